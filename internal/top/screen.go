package top

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
)

const (
	// interval is the time from an answer to the next question.
	interval = 500 * time.Millisecond
	// noticePaused is shown while nothing is asked.
	noticePaused = "paused"
)

type (
	// answered is the end of one question.
	answered struct {
		snapshot *Snapshot
		err      error
	}
	// due says that it is time for the next question.
	due struct{}
)

// screen is the state of the live view: a Bubble Tea model. At any time either one question is under
// way or one tick, so that a slow engine isn't asked twice.
type screen struct {
	ctx    context.Context
	client *Client
	zone   *time.Location

	history       history
	silent        int   // questions in a row that got no answer
	gone          error // why the view ends by itself
	left          bool  // the view ends
	paused        bool
	width, height int
	scroll        int
}

func newScreen(ctx context.Context, client *Client, first *Snapshot) screen {
	return screen{ctx: ctx, client: client, zone: time.Local, history: history{first}, width: pageWidth, height: pageHeight}
}

// Init implements tea.Model.
func (s screen) Init() tea.Cmd { return s.wait }

func (s screen) wait() tea.Msg {
	select {
	case <-s.ctx.Done():
		return nil
	case <-time.After(interval):
		return due{}
	}
}

func (s screen) ask() tea.Msg {
	snapshot, err := s.client.Snapshot(s.ctx)
	return answered{snapshot, err}
}

// Update implements tea.Model.
func (s screen) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch m := message.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = m.Width, m.Height
	case tea.KeyPressMsg:
		return s.press(m.String())
	case due:
		if s.paused {
			return s, s.wait
		}
		return s, s.ask
	case answered:
		return s.answer(m)
	}
	return s, nil
}

func (s screen) press(key string) (tea.Model, tea.Cmd) {
	most := max(len(s.history.last().Streams)-1, 0)
	switch key {
	case "q", "ctrl+c", "esc":
		return s.leave()
	case "p", "space":
		s.paused = !s.paused
	case "up", "k":
		s.scroll = max(s.scroll-1, 0)
	case "down", "j":
		s.scroll = min(s.scroll+1, most)
	case "pgup":
		s.scroll = max(s.scroll-s.height/2, 0)
	case "pgdown":
		s.scroll = min(s.scroll+s.height/2, most)
	case "home", "g":
		s.scroll = 0
	}
	return s, nil
}

// leave ends the view.
func (s screen) leave() (tea.Model, tea.Cmd) {
	s.left = true
	return s, tea.Quit
}

// answer takes the next snapshot. What arrives in a pause is dropped, so that the page stands still.
func (s screen) answer(a answered) (tea.Model, tea.Cmd) {
	switch {
	case a.err == nil && a.snapshot.PID != s.history.last().PID:
		s.gone = ErrGone // another engine listens there by now
		return s.leave()
	case a.err == nil:
		s.silent = 0
		if !s.paused {
			s.history = s.history.add(a.snapshot)
			s.scroll = min(s.scroll, max(len(a.snapshot.Streams)-1, 0))
		}
	case errors.Is(a.err, ErrSlow):
		s.silent++
	default:
		s.gone = a.err
		return s.leave()
	}
	return s, s.wait
}

// View implements tea.Model.
func (s screen) View() tea.View {
	text := "" // at the end: a terminal that has grown would leave lines of the page behind
	if !s.left {
		text = s.page().text()
	}
	view := tea.NewView(text)
	view.AltScreen = true
	view.WindowTitle = fmt.Sprintf("sluice top %d", s.history.last().PID)
	return view
}

func (s screen) page() page {
	return page{
		address: s.client.Address(), now: s.history.last(), rates: s.history.rates(), notice: s.notice(),
		zone: s.zone, paint: paint{on: true}, width: s.width, height: s.height, scroll: s.scroll,
	}
}

func (s screen) notice() string {
	switch {
	case s.paused:
		return noticePaused
	case s.silent > 0:
		return fmt.Sprintf("no answer for %s", span(time.Duration(s.silent)*(answerTimeout+interval)))
	}
	return ""
}
