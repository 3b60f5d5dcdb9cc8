package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"sluice/internal/wire"
)

// errEngineGone says that the engine ended before it had answered.
var errEngineGone = errors.New("the engine ended")

// pendingRequests is how many lines may wait for the engine to read them. A chat is asked only after
// the one before it ended, so that beside it no more than one cancel a chat waits.
const pendingRequests = 8

// client speaks NDJSON v1 with one engine, one chat at a time. Its methods belong to one goroutine,
// but for cancel, which any may call. Two goroutines of its own write to the engine's stdin and read
// its stdout: the one ends, and closes stdin, after close, the other with the output, which must be read
// to its end.
type client struct {
	lines     chan engineLine // closed at the end of the engine's output
	requests  chan []byte
	closing   chan struct{} // closed by close
	unread    chan struct{} // closed when nobody writes requests any more
	show      func(line []byte, m *message) error
	approvals *approvals
	asked     int
	answered  int // approvals

	mu      sync.Mutex
	running string // the id of the running chat; "" when none runs or it was cancelled already
}

// newClient returns a client that hands every line of the engine to show; m is nil when the line is
// none of the protocol's. After an error of show it isn't called any more.
func newClient(stdin io.WriteCloser, stdout io.Reader, show func(line []byte, m *message) error, approvals *approvals) *client {
	c := &client{
		lines:     make(chan engineLine),
		requests:  make(chan []byte, pendingRequests),
		closing:   make(chan struct{}),
		unread:    make(chan struct{}),
		show:      show,
		approvals: approvals,
	}
	go c.write(stdin)
	go c.read(stdout)
	return c
}

// write owns the engine's stdin. An engine that has gone is found by reading.
func (c *client) write(stdin io.WriteCloser) {
	defer stdin.Close()
	defer close(c.unread)
	for {
		select {
		case line := <-c.requests:
			if _, err := stdin.Write(line); err != nil {
				return
			}
		case <-c.closing:
			return
		}
	}
}

// close ends the engine's input; nothing may be asked any more.
func (c *client) close() { close(c.closing) }

// initialize agrees on the protocol.
func (c *client) initialize() error {
	const id = "initialize"
	if err := c.send(request{id, "initialize", initializeParams}); err != nil {
		return err
	}
	m, err := c.await(id)
	if err != nil {
		return err
	}
	return m.fault()
}

// chat asks and waits for the final frame, which may be an error.
func (c *client) chat(p chatParams) (*message, error) {
	c.asked++
	id := fmt.Sprintf("chat-%d", c.asked)
	if err := c.begin(id, p); err != nil {
		return nil, err
	}
	defer c.ended()
	return c.await(id)
}

// begin sends the chat under the lock, so that no cancel can overtake it.
func (c *client) begin(id string, p chatParams) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = id
	return c.send(request{id, "chat", p})
}

func (c *client) ended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = ""
}

// cancel cancels the running chat, and returns false when there is none that wasn't cancelled before.
// It doesn't wait.
func (c *client) cancel() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == "" {
		return false
	}
	line, err := request{"cancel-" + c.running, "cancel", map[string]string{"request_id": c.running}}.line()
	if err != nil {
		return false
	}
	c.running = ""
	select {
	case c.requests <- line:
		return true
	default: // the engine doesn't read
		return false
	}
}

func (c *client) send(r request) error {
	line, err := r.line()
	if err != nil {
		return err
	}
	select {
	case c.requests <- line:
		return nil
	default:
		return errors.New("the engine doesn't read its input")
	}
}

// await reads until the final frame of the request. When what comes can't be shown any more, the
// chat is cancelled and its end awaited, and that error returned.
func (c *client) await(id string) (*message, error) {
	var unshown error
	for {
		select {
		case l, more := <-c.lines:
			if !more {
				return nil, errEngineGone
			}
			if m := l.message; m != nil && m.Event == "tool_done" {
				c.approvals.settle(m.CallID) // before it is shown: what is asked stands below what is shown
			}
			if unshown == nil {
				if unshown = c.show(l.text, l.message); unshown != nil {
					c.cancel()
				}
			}
			if l.message == nil {
				return nil, errors.New("the engine wrote a line that is none of the protocol's")
			}
			if l.message.ends(id) {
				return l.message, unshown
			}
			if l.message.Event == "tool_approval" {
				c.take(l.message)
			}
		case typed := <-c.approvals.typed():
			c.approve(c.approvals.answer(typed))
		}
	}
}

// take takes a tool_approval in.
func (c *client) take(m *message) {
	if decision := c.approvals.add(m); decision != "" {
		c.approve(m, decision)
	}
}

// approve sends a decision. It waits until there is room for it: many may come at once. An engine that
// has gone is found by reading.
func (c *client) approve(m *message, decision wire.Decision) {
	c.answered++
	line, err := request{fmt.Sprintf("approve-%d", c.answered), "approve", approveParams{m.ID, m.CallID, decision}}.line()
	if err != nil {
		return
	}
	select {
	case c.requests <- line:
	case <-c.unread:
	}
}

// drain reads to the end of the engine's output, and shows it unless unshown is set.
func (c *client) drain(unshown error) {
	for l := range c.lines {
		if unshown == nil {
			unshown = c.show(l.text, l.message)
		}
	}
}

// engineLine is a line of the engine, with its line end, and what it says, nil when that is no JSON
// object.
type engineLine struct {
	text    []byte
	message *message
}

// read owns the engine's stdout.
func (c *client) read(stdout io.Reader) {
	defer close(c.lines)
	replies := bufio.NewReaderSize(stdout, 64<<10)
	for {
		text, err := replies.ReadBytes('\n')
		if err != nil {
			return
		}
		l := engineLine{text: text, message: &message{}}
		if json.Unmarshal(text, l.message) != nil {
			l.message = nil
		}
		c.lines <- l
	}
}
