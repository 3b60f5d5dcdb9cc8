package tools

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	errUnread = errors.New("it doesn't read its input")
	errClosed = errors.New("the connection is closed")
	errOutput = errors.New("it closed its output, on which it is to answer, while it ran on")
)

// pipes is the connection to a spawned server: messages on lines. It is its own transport. One
// goroutine reads the server's stdout and one writes its stdin, so that neither Write nor Close ever
// waits for the server. Both end, and the files are closed, once Close was called and the server has
// ended, for which wait waits.
type pipes struct {
	stdin  io.WriteCloser
	stdout io.ReadCloser
	limit  int // of a line that comes, and of all that wait to be written, in bytes
	noise  func(line string)
	ended  <-chan struct{} // closed when the server has ended; nil is never

	answers answers

	incoming chan jsonrpc.Message // closed by the reader
	readErr  error                // set before incoming is closed
	closed   chan struct{}        // closed by Close
	once     sync.Once
	tasks    sync.WaitGroup

	mu     sync.Mutex
	queue  []outgoing
	queued int           // bytes of queue and of what is being written
	wake   chan struct{} // holds one; there is something in queue
}

// outgoing is a line to be written. sent, which may be nil, is told once the server may have seen it.
type outgoing struct {
	line []byte
	sent *mark
}

func newPipes(stdin io.WriteCloser, stdout io.ReadCloser, ended <-chan struct{}, limit int, noise func(string), mended func(string, *mending)) *pipes {
	p := &pipes{
		stdin: stdin, stdout: stdout, ended: ended, limit: limit, noise: noise, answers: answers{mended: mended},
		incoming: make(chan jsonrpc.Message), closed: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	p.tasks.Go(p.read)
	p.tasks.Go(p.write)
	return p
}

// Connect implements mcp.Transport.
func (p *pipes) Connect(context.Context) (mcp.Connection, error) { return p, nil }

// SessionID implements mcp.Connection.
func (p *pipes) SessionID() string { return "" }

// Read implements mcp.Connection.
func (p *pipes) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case message, ok := <-p.incoming:
		if !ok {
			return nil, p.readErr
		}
		return message, nil
	case <-p.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection. It only queues the message.
func (p *pipes) Write(ctx context.Context, message jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	select {
	case <-p.closed:
		return errClosed
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queued+len(line) > p.limit {
		return errUnread
	}
	p.answers.tell(message)
	p.queued += len(line)
	p.queue = append(p.queue, outgoing{append(line, '\n'), markOf(ctx)})
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return nil
}

// Close implements mcp.Connection. What is queued is still written, then stdin is closed.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// wait waits for both goroutines. The server has ended, so the files bring no more.
func (p *pipes) wait() {
	_ = p.stdin.Close()
	_ = p.stdout.Close()
	p.tasks.Wait()
}

func (p *pipes) read() {
	defer close(p.incoming)
	reader := bufio.NewReaderSize(p.stdout, 64<<10)
	for {
		line, err := readLine(reader, p.limit)
		if err != nil {
			p.readErr = p.explain(err)
			return
		}
		messages, err := parse(line, p.answers.decode)
		if err != nil {
			p.noise(excerpt(string(line)))
		}
		for _, message := range messages {
			select {
			case p.incoming <- message:
			case <-p.closed:
				p.readErr = io.EOF
				return
			}
		}
	}
}

// explain tells an output that was closed from one that ended with its server. It waits a little for
// the server's end, before the session learns of the error and closes the input, at which a server ends
// in any case.
func (p *pipes) explain(err error) error {
	if err != io.EOF {
		return err
	}
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-p.closed:
	case <-timer.C:
		return errOutput
	}
	return err
}

func (p *pipes) write() {
	defer p.stdin.Close()
	for {
		select {
		case <-p.wake:
		case <-p.closed:
			_ = p.flush()
			return
		}
		if p.flush() != nil {
			_ = p.Close() // it reads no more: whatever is still called would wait in vain
			return
		}
	}
}

// flush writes what is queued.
func (p *pipes) flush() error {
	for {
		p.mu.Lock()
		queue := p.queue
		p.queue = nil
		p.mu.Unlock()
		if len(queue) == 0 {
			return nil
		}
		for _, next := range queue {
			if err := p.writeOne(next); err != nil {
				return err
			}
		}
	}
}

func (p *pipes) writeOne(next outgoing) error {
	next.sent.set(true)
	written, err := p.stdin.Write(next.line)
	if written == 0 {
		next.sent.set(false)
	}
	p.mu.Lock()
	p.queued -= len(next.line) - 1
	p.mu.Unlock()
	return err
}
