package wire

import (
	"bytes"
	"slices"
	"strings"
)

// Batch is what flows between stages: several items in one element. A batch that crosses a channel
// is cloned first, because its owner reuses it.
type Batch interface {
	// Len counts the items.
	Len() int
	// Clone returns a copy that borrows nothing.
	Clone() any
}

// Len counts the lines.
func (l *Lines) Len() int { return len(l.Items) }

// Clone implements Batch.
func (l *Lines) Clone() any {
	c := &Lines{Items: slices.Clone(l.Items)}
	for i := range c.Items {
		c.Items[i].Bytes = bytes.Clone(c.Items[i].Bytes)
	}
	return c
}

// Len counts the requests.
func (r *Requests) Len() int { return len(r.Items) }

// Clone implements Batch.
func (r *Requests) Clone() any {
	c := &Requests{Items: slices.Clone(r.Items)}
	for i := range c.Items {
		item := &c.Items[i]
		item.ID = ID(strings.Clone(string(item.ID)))
		item.Name, item.RawParams = strings.Clone(item.Name), strings.Clone(item.RawParams)
	}
	return c
}

// Len counts the tokens; a batch that only brings a fact counts as one.
func (t *Tokens) Len() int {
	if len(t.Items) == 0 && (t.Finish != "" || t.Usage != nil || t.Progress != nil || len(t.Calls) > 0) {
		return 1
	}
	return len(t.Items)
}

// Clone implements Batch.
func (t *Tokens) Clone() any {
	c := *t
	c.Items = slices.Clone(t.Items)
	for i := range c.Items {
		c.Items[i].Raw = bytes.Clone(c.Items[i].Raw)
	}
	c.Calls = slices.Clone(t.Calls)
	return &c
}

// Len counts the events.
func (e *Events) Len() int { return len(e.Items) }

// Clone implements Batch.
func (e *Events) Clone() any {
	c := &Events{Items: slices.Clone(e.Items)}
	for i := range c.Items {
		c.Items[i].Text = bytes.Clone(c.Items[i].Text)
	}
	return c
}

// Len counts the frames.
func (f *Frames) Len() int { return len(f.Items) }

// Clone implements Batch.
func (f *Frames) Clone() any {
	c := &Frames{Items: slices.Clone(f.Items), Arrived: f.Arrived}
	for i := range c.Items {
		item := &c.Items[i]
		item.Head, item.Text, item.Tail = bytes.Clone(item.Head), bytes.Clone(item.Text), bytes.Clone(item.Tail)
	}
	return c
}
