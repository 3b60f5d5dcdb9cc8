package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
)

// The size of a page where no terminal tells one.
const (
	pageWidth  = 80
	pageHeight = 24
)

// Print writes one page as text: the totals, and the rates of the time between two questions.
func Print(ctx context.Context, client *Client, w io.Writer) error {
	first, err := client.Snapshot(ctx)
	if err != nil {
		return err
	}
	h := history{first}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(interval):
	}
	if second, err := client.Snapshot(ctx); err == nil {
		h = h.add(second)
	}
	p := page{address: client.Address(), now: h.last(), rates: h.rates(), zone: time.Local, width: pageWidth}
	_, err = fmt.Fprintln(w, p.text())
	return err
}

// Watch shows the live view on the terminal behind in and out until the person quits, ctx ends, or
// the engine does. The last returns a line about it. A nil in is the terminal that the process
// belongs to.
func Watch(ctx context.Context, client *Client, in io.Reader, out io.Writer) (ended string, err error) {
	first, err := client.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	ctx, end := context.WithCancel(ctx) // also of the question that is under way when the view ends
	defer end()
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithOutput(out), tea.WithWindowSize(pageWidth, pageHeight)}
	if in != nil {
		options = append(options, tea.WithInput(in))
	}
	model, err := tea.NewProgram(newScreen(ctx, client, first), options...).Run()
	if err != nil && (errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil) {
		return "", nil
	}
	last, ok := model.(screen)
	switch {
	case err != nil || !ok || last.gone == nil:
		return "", err
	case errors.Is(last.gone, ErrGone):
		s := last.history.last()
		return fmt.Sprintf("the engine has ended (pid %d): %s lines written, %s events dropped", s.PID, count(s.Written.Frames), count(s.Dropped)), nil
	}
	return "", last.gone
}
