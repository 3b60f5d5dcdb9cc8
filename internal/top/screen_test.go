package top

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"
)

// key is a key that a person presses.
func key(text string) tea.KeyPressMsg { return tea.KeyPressMsg{Text: text, Code: []rune(text)[0]} }

// driven is a screen without a terminal.
type driven struct {
	screen
	command tea.Cmd
}

func drive(t *testing.T, e *fakeEngine) *driven {
	t.Helper()
	c := e.client(t, "")
	first, err := c.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &driven{screen: newScreen(t.Context(), c, first)}
}

func (d *driven) update(m tea.Msg) {
	model, command := d.Update(m)
	d.screen, d.command = model.(screen), command
}

// ended reports whether the last message ended the view.
func (d *driven) ended() bool {
	if d.command == nil || !d.left {
		return false
	}
	_, quit := d.command().(tea.QuitMsg)
	return quit && d.View().Content == ""
}

func (d *driven) shows(t *testing.T, words ...string) {
	t.Helper()
	for _, word := range words {
		if text := d.View().Content; !strings.Contains(text, word) {
			t.Errorf("%q is not on the screen:\n%s", word, text)
		}
	}
}

func TestScreenAsksAgain(t *testing.T) {
	d := drive(t, newFakeEngine(t))
	d.shows(t, "pid 4711", "- lines/s")
	d.update(due{})
	d.update(d.command())
	if d.command == nil {
		t.Error("nothing is asked any more")
	}
	d.shows(t, "200 lines/s", "p pause")
}

func TestScreenWaitsBetweenQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := screen{ctx: ctx}
		if m := s.Init()(); m != (due{}) {
			t.Errorf("after the interval came %v", m)
		}
		cancel()
		if m := s.wait(); m != nil {
			t.Errorf("after the end came %v", m)
		}
	})
}

func TestScreenPauses(t *testing.T) {
	d := drive(t, newFakeEngine(t))
	d.update(due{})
	late := d.command()
	d.update(key("p"))
	d.update(late) // was under way
	d.shows(t, "paused", "p go on", "- lines/s")
	d.update(due{})
	d.update(key("p"))
	d.update(due{})
	d.update(d.command())
	d.shows(t, "200 lines/s")
}

func TestScreenFollowsTheTerminal(t *testing.T) {
	d := drive(t, newFakeEngine(t))
	d.update(tea.WindowSizeMsg{Width: 44, Height: 12})
	if lines := strings.Split(d.View().Content, "\n"); len(lines) != 12 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestScreenScrolls(t *testing.T) {
	_, after := crowd()
	d := &driven{screen: newScreen(t.Context(), NewClient("x:1", ""), after.snapshot(t))}
	for _, c := range []struct {
		key  string
		want int
	}{{"down", 1}, {"j", 2}, {"up", 1}, {"k", 0}, {"up", 0}, {"pgdown", 12}, {"pgup", 0}, {"pgdown", 12}, {"home", 0}} {
		model, _ := d.press(c.key)
		if d.screen = model.(screen); d.scroll != c.want {
			t.Errorf("after %s it is %d, want %d", c.key, d.scroll, c.want)
		}
	}
	d.update(key("j"))
	d.shows(t, "window-1/chat-1", "1 more above, 95 more below")
	after["chats"] = []any{}
	d.update(answered{snapshot: after.snapshot(t)})
	if d.scroll != 0 {
		t.Error("what was scrolled away has ended")
	}
}

func TestScreenQuits(t *testing.T) {
	for _, m := range []tea.Msg{key("q"), tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}, tea.KeyPressMsg{Code: tea.KeyEscape}} {
		d := drive(t, newFakeEngine(t))
		if d.update(m); !d.ended() || d.gone != nil {
			t.Errorf("%v doesn't quit", m)
		}
	}
}

func TestScreenEndsWithTheEngine(t *testing.T) {
	e := newFakeEngine(t)
	d := drive(t, e)
	e.set(func(e *fakeEngine) { e.pid++ })
	d.update(due{})
	if d.update(d.command()); !d.ended() || !errors.Is(d.gone, ErrGone) {
		t.Errorf("another engine answers: %v", d.gone)
	}
	e.Close()
	d = &driven{screen: newScreen(t.Context(), e.client(t, ""), d.history.last())}
	d.update(due{})
	if d.update(d.command()); !d.ended() || !errors.Is(d.gone, ErrGone) {
		t.Errorf("nobody answers: %v", d.gone)
	}
}

// An engine that is stopped for a while, or a machine that sleeps, is no end.
func TestScreenBearsSilence(t *testing.T) {
	d := drive(t, newFakeEngine(t))
	d.update(answered{err: ErrSlow})
	d.update(answered{err: ErrSlow})
	d.shows(t, "no answer for 5.0 s")
	d.update(d.ask())
	if strings.Contains(d.View().Content, "no answer") {
		t.Error("it answers again")
	}
}

// watched runs the whole view on a terminal that is a buffer.
func watched(t *testing.T, e *fakeEngine, act func(in io.Writer)) (shown, ended string, err error) {
	t.Helper()
	in, keys := io.Pipe()
	var out terminal
	out.drawn = sync.OnceFunc(func() { go act(keys) })
	ended, err = Watch(t.Context(), e.client(t, ""), in, &out)
	keys.Close()
	return out.text.String(), ended, err
}

// terminal collects what is drawn, and calls drawn once the first page is. Bubble Tea writes from
// one goroutine at a time.
type terminal struct {
	text  strings.Builder
	drawn func()
}

func (o *terminal) Write(p []byte) (int, error) {
	n, err := o.text.Write(p)
	if strings.Contains(o.text.String(), "STREAMS") {
		o.drawn()
	}
	return n, err
}

func TestWatch(t *testing.T) {
	e := newFakeEngine(t)
	shown, ended, err := watched(t, e, func(in io.Writer) { _, _ = io.WriteString(in, "q") })
	if err != nil || ended != "" || !strings.Contains(shown, "STREAMS") {
		t.Errorf("ended %q, %v, after %q", ended, err, shown)
	}
	_, ended, err = watched(t, e, func(io.Writer) { e.set(func(e *fakeEngine) { e.pid = 1 }) })
	if err != nil || !strings.Contains(ended, "has ended (pid 4711)") {
		t.Errorf("ended %q, %v", ended, err)
	}
	e.set(func(e *fakeEngine) { e.pid = 4711 })
	_, _, err = watched(t, e, func(io.Writer) { e.set(func(e *fakeEngine) { e.token = "swordfish" }) })
	if !errors.Is(err, ErrToken) {
		t.Errorf("ended with %v", err)
	}
}

func TestPrint(t *testing.T) {
	e := newFakeEngine(t)
	var out strings.Builder
	if err := Print(t.Context(), e.client(t, ""), &out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "200 lines/s") || strings.Contains(text, "\x1b") || strings.Contains(text, "quit") || !strings.HasSuffix(text, "\nno chat runs\n") {
		t.Errorf("printed %q", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Print(ctx, e.client(t, ""), &out); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
