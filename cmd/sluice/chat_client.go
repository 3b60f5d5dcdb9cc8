package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// errEngineGone says that the engine ended before it had answered.
var errEngineGone = errors.New("the engine ended")

// pendingRequests is how many lines may wait for the engine to read them. A chat is asked only after
// the one before it ended, so that beside it no more than one cancel a chat waits.
const pendingRequests = 8

// client speaks NDJSON v1 with one engine, one chat at a time. Its methods belong to one goroutine,
// but for cancel, which any may call. A goroutine of its own writes to the engine's stdin: it ends,
// and closes it, after close.
type client struct {
	replies  *bufio.Reader
	requests chan []byte
	closing  chan struct{} // closed by close
	show     func(line []byte, m *message) error
	asked    int

	mu      sync.Mutex
	running string // the id of the running chat; "" when none runs or it was cancelled already
}

// newClient returns a client that hands every line of the engine to show; m is nil when the line is
// none of the protocol's. After an error of show it isn't called any more.
func newClient(stdin io.WriteCloser, stdout io.Reader, show func(line []byte, m *message) error) *client {
	c := &client{
		replies:  bufio.NewReaderSize(stdout, 64<<10),
		requests: make(chan []byte, pendingRequests),
		closing:  make(chan struct{}),
		show:     show,
	}
	go c.write(stdin)
	return c
}

// write owns the engine's stdin. An engine that has gone is found by reading.
func (c *client) write(stdin io.WriteCloser) {
	defer stdin.Close()
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
		line, m, err := c.read()
		if err != nil {
			return nil, err
		}
		if unshown == nil {
			if unshown = c.show(line, m); unshown != nil {
				c.cancel()
			}
		}
		if m == nil {
			return nil, errors.New("the engine wrote a line that is none of the protocol's")
		}
		if m.ends(id) {
			return m, unshown
		}
	}
}

// drain reads to the end of the engine's output, and shows it unless unshown is set.
func (c *client) drain(unshown error) {
	for {
		line, m, err := c.read()
		if err != nil {
			return
		}
		if unshown == nil {
			unshown = c.show(line, m)
		}
	}
}

// read returns the next line, with its line end, and what it says, nil when that is no JSON object.
func (c *client) read() ([]byte, *message, error) {
	line, err := c.replies.ReadBytes('\n')
	if err != nil {
		return nil, nil, errEngineGone
	}
	m := &message{}
	if json.Unmarshal(line, m) != nil {
		m = nil
	}
	return line, m, nil
}
