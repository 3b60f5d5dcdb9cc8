package main

import (
	"io"
	"os"
)

// screen shows a person what an engine sends: text on stdout, everything else on the console. Its
// methods belong to one goroutine, but for interrupt.
type screen struct {
	out      io.Writer
	console  *console
	raw      bool // the engine's lines as they are
	verbose  bool
	thoughts bool // reasoning is shown
	dimmed   bool // and told apart by escape sequences

	text, thought stripper
	buf           []byte
	last          byte // the last byte that was written for this chat, 0 when there is none
	thinking      bool // reasoning was written last
	answered      bool // text of the answer was written
	calls         calls
}

const dim, undim = "\x1b[2m", "\x1b[0m"

func newScreen(s streams, flags *chatFlags) *screen {
	screen := &screen{out: stdioOutput(s.out), console: newConsole(s.err), raw: flags.json, verbose: flags.verbose}
	if file, ok := s.out.(*os.File); ok && isTerminal(file) {
		screen.thoughts = true
		screen.dimmed = os.Getenv("NO_COLOR") == "" && obeysEscapes(file)
	}
	return screen
}

// log returns what is called with each line of the engine's log, nil when nobody wants to see it.
func (s *screen) log() func(string) {
	if !s.verbose {
		return nil
	}
	return s.console.println
}

// begin is called before a chat.
func (s *screen) begin() {
	s.text, s.thought = stripper{}, stripper{}
	s.last, s.thinking, s.answered = 0, false, false
	s.calls = calls{}
	s.console.status("asking...")
}

// show shows a line of the engine. The error is stdout's.
func (s *screen) show(line []byte, m *message) error {
	if s.raw {
		s.console.clear()
		_, err := s.out.Write(line)
		return err
	}
	if m == nil {
		return nil
	}
	if m.Type != "event" {
		s.tellRefused(m)
		return nil
	}
	switch m.Event {
	case "run_start":
		s.console.status("starting the model...")
	case "memory_start":
		s.wait("remembering...")
	case "llm_start":
		s.wait("reading the question...")
	case "progress":
		s.wait(progressLabel(m))
	case "tool_start":
		return s.note(s.calls.started(m), "running a tool...")
	case "tool_done":
		return s.note(s.calls.done(m), "running a tool...")
	case "loop_abort":
		return s.note("the turn was aborted: "+oneLine(m.Reason, shownName), "")
	case "llm_reasoning":
		return s.showThought(m.Delta)
	case "llm_chunk":
		return s.showText(m.Delta)
	}
	return nil
}

// note writes a line on the console, below what was written so far, and shows a status then.
func (s *screen) note(text, label string) error {
	if err := s.endLine(); err != nil {
		return err
	}
	s.thinking = false
	s.console.note(text)
	if label != "" {
		s.console.status(label)
	}
	return nil
}

// tellRefused tells a person whose approval came too late.
func (s *screen) tellRefused(m *message) {
	if m.Result != nil && m.Result.Accepted != nil && !*m.Result.Accepted {
		s.console.println("sluice: the answer came too late, the call was decided about before")
	}
}

// wait shows a status while the cursor is at the start of a line.
func (s *screen) wait(label string) {
	if s.atStart() {
		s.console.status(label)
	}
}

// atStart reports whether what was written leaves the cursor at the start of a line.
func (s *screen) atStart() bool { return s.last == 0 || s.last == '\n' }

func (s *screen) showThought(delta string) error {
	if !s.thoughts {
		s.wait("thinking...")
		return nil
	}
	s.buf = s.buf[:0]
	if s.dimmed {
		s.buf = append(s.buf, dim...)
	}
	start := len(s.buf)
	s.buf = s.thought.append(s.buf, delta)
	if len(s.buf) == start {
		return nil
	}
	s.thinking = true
	s.last = s.buf[len(s.buf)-1]
	if s.dimmed {
		s.buf = append(s.buf, undim...)
	}
	return s.write()
}

func (s *screen) showText(delta string) error {
	s.buf = s.buf[:0]
	if s.thinking {
		s.buf = append(s.buf, "\n\n"...)
	}
	start := len(s.buf)
	s.buf = s.text.append(s.buf, delta)
	if len(s.buf) == start {
		return nil
	}
	s.thinking, s.answered = false, true
	s.last = s.buf[len(s.buf)-1]
	return s.write()
}

func (s *screen) write() error {
	s.console.clear()
	_, err := s.out.Write(s.buf)
	return err
}

// end is called after a chat, with its final frame when there was one: text that no event brought is
// shown, the last line ended, and what else a person should know told.
func (s *screen) end(final *message) error {
	s.console.clear()
	if final == nil {
		return s.endLine()
	}
	if r := final.Result; r != nil && !s.answered && !s.raw {
		if err := s.showText(r.Response); err != nil {
			return err
		}
	}
	if final.Code == codeCancelled && s.atStart() {
		s.console.endEcho()
	}
	if err := s.endLine(); err != nil {
		return err
	}
	s.tell(final)
	return nil
}

func (s *screen) endLine() error {
	if s.atStart() {
		return nil
	}
	s.last = '\n'
	_, err := io.WriteString(s.out, "\n")
	return err
}

func (s *screen) tell(final *message) {
	result := final.Result
	if result == nil {
		result = final.Data
	}
	if result == nil {
		return
	}
	for _, warning := range result.Warnings {
		s.console.println("sluice: warning: " + stripped(warning))
	}
	if s.verbose && (final.Result != nil || result.Usage != nil) {
		s.console.println(result.figures())
	}
}
