package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// statusInterval is how often a status line moves.
	statusInterval = 125 * time.Millisecond
	// statusDelay is how long a status waits before it is shown: a fast answer needs none.
	statusDelay = 250 * time.Millisecond
)

// console is the stderr of a person's command: lines, and when it is a terminal a status line that
// says what is waited for and how long. Errors of stderr are nobody's concern. Every method may be
// called from any goroutine. A status has a goroutine that moves it, which clear ends.
type console struct {
	out      io.Writer
	terminal bool
	animated bool // it obeys carriage returns
	dimmed   bool // it obeys escape sequences, and they are wanted

	mu     sync.Mutex
	label  string
	since  time.Time
	frame  int
	width  int           // of the status on the screen, 0 when there is none
	asked  string        // the question that stands where the cursor is; "" when none does
	stop   chan struct{} // closed by clear, which makes it nil again; nil when there is no status
	ticked chan struct{} // closed by the goroutine, last
}

func newConsole(w io.Writer) *console {
	file, ok := w.(*os.File)
	if !ok || !isTerminal(file) {
		return &console{out: w}
	}
	animated := os.Getenv("TERM") != "dumb"
	return &console{out: w, terminal: true, animated: animated, dimmed: animated && os.Getenv("NO_COLOR") == "" && obeysEscapes(file)}
}

// println writes a line, above the status and what is asked.
func (c *console) println(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.eraseLocked()
	if c.asked != "" {
		fmt.Fprintln(c.out)
	}
	fmt.Fprint(c.out, line, "\n", c.asked)
}

// note writes a line that matters less than others.
func (c *console) note(line string) {
	if c.dimmed {
		line = dim + line + undim
	}
	c.println(line)
}

// ask writes a question, which a person answers behind it; no status is shown until answered.
func (c *console) ask(question string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.eraseLocked()
	c.asked = question
	fmt.Fprint(c.out, question)
}

// answered ends the question; ended says that the answer has ended its line.
func (c *console) answered(ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked != "" && !ended {
		fmt.Fprintln(c.out)
	}
	c.asked = ""
}

// status shows what is waited for from now on. The seconds count from the first status after clear.
func (c *console) status(label string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.label = label
	if !c.animated || c.stop != nil {
		return
	}
	c.since = time.Now()
	c.stop, c.ticked = make(chan struct{}), make(chan struct{})
	go c.move(c.stop, c.ticked)
}

// clear takes the status away.
func (c *console) clear() {
	c.mu.Lock()
	stop, ticked := c.stop, c.ticked
	c.stop = nil
	c.eraseLocked()
	c.mu.Unlock()
	if stop != nil {
		close(stop)
		<-ticked
	}
}

func (c *console) move(stop <-chan struct{}, ticked chan<- struct{}) {
	defer close(ticked)
	tick := time.NewTicker(statusInterval)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			c.draw(stop)
		}
	}
}

// draw moves the status one frame on, unless it was cleared meanwhile.
func (c *console) draw(own <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	elapsed := time.Since(c.since)
	if c.stop != own || elapsed < statusDelay || c.asked != "" {
		return
	}
	c.eraseLocked()
	c.frame++
	text := fmt.Sprintf("%c %s %d s", `|/-\`[c.frame%4], c.label, int(elapsed.Seconds()))
	c.width = len(text)
	fmt.Fprint(c.out, text)
}

// eraseLocked uses no escape sequence, so that every terminal obeys.
func (c *console) eraseLocked() {
	if c.width > 0 {
		fmt.Fprint(c.out, "\r", strings.Repeat(" ", c.width), "\r")
		c.width = 0
	}
}

// endEcho ends the line that a terminal shows ^C on.
func (c *console) endEcho() {
	if c.animated {
		c.println("")
	}
}
