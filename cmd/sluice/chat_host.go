package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"strings"
	"time"
)

// quitPatience bounds how long the status line is waited for when a person quits.
const quitPatience = 100 * time.Millisecond

// chatHost is the host of one engine on behalf of a person. The session runs in a goroutine of its
// own, which may wait for the engine, the keyboard or a slow terminal; run itself only waits for
// interrupts, so that they always act.
type chatHost struct {
	engine    *engine
	questions questions
	screen    *screen
	approvals *approvals
	params    chatParams // of every chat, but for the input
}

// run returns when the questions and the engine have ended, or when a person quits.
func (h *chatHost) run(ctx context.Context, interrupts <-chan os.Signal) error {
	c := newClient(h.engine.stdin, h.engine.stdout, h.screen.show, h.approvals)
	done := make(chan error, 1)
	go func() { done <- h.session(c) }()
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return h.quit()
		case <-interrupts:
			if !c.cancel() {
				return h.quit()
			}
		}
	}
}

// quit leaves everything to the end of this process, which ends the engine too.
func (h *chatHost) quit() error {
	cleared := make(chan struct{})
	go func() {
		defer close(cleared)
		h.screen.console.clear()
		h.screen.console.answered(true)
		h.screen.console.endEcho()
	}()
	select {
	case <-cleared:
	case <-time.After(quitPatience):
	}
	return &failure{status: exitFailed}
}

// session is everything that is said to an engine, from its start to its end.
func (h *chatHost) session(c *client) error {
	err := h.converse(c)
	c.close()
	h.screen.console.status("stopping the engine...")
	defer h.screen.console.clear()
	c.drain(err)
	return h.engine.wait().explain(err)
}

func (h *chatHost) converse(c *client) error {
	h.screen.console.status("starting the engine...")
	err := c.initialize()
	h.screen.console.clear()
	if err != nil {
		return err
	}
	if h.questions.typed() && h.params.SessionID == "" {
		h.params.SessionID = strings.ToLower(rand.Text()[:8]) // the lines of one conversation share it
	}
	for {
		text, err := h.questions.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := h.ask(c, text); err != nil {
			return err
		}
	}
}

// ask runs one chat. An error of the chat alone is told to a person who can type another.
func (h *chatHost) ask(c *client, text string) error {
	p := h.params
	p.Input = text
	h.params.Resume = false // only the first goes on with what was interrupted
	h.screen.begin()
	final, err := c.chat(p)
	h.approvals.end()
	if shown := h.screen.end(final); err == nil {
		err = shown
	}
	if err != nil {
		return err
	}
	fault := final.fault()
	if fault != nil && h.questions.typed() {
		h.screen.console.println("sluice: " + fault.Error())
		return nil
	}
	return fault
}
