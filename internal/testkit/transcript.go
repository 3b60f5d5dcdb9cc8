package testkit

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// patience is how long, on the bubble's clock, an expected line may take.
const patience = 10 * time.Minute

// Start starts an engine on the two streams. wait returns how it ended, once it has; the engine
// doesn't close out.
type Start func(in io.Reader, out io.Writer) (wait func() error)

// RunTranscript plays every file of a txtar archive as a subtest, each with an engine and a synctest
// bubble of its own. A file is a list of steps, a line each; blank lines and # comments are skipped:
//
//	> TEXT     the host sends TEXT and a newline
//	< JSON     the next line of the engine is JSON; "*" stands for any value, "$x" for one that is then
//	           called so: it must come again where "$x" does, and the host sends it in place of "$x"
//	sleep 2s   two seconds pass, and everything that they set off has happened
//	quiet      the engine does what it can and has sent no line that wasn't expected
//	pause      the host stops reading, after the write that it waits for; resume lets it go on
//	close      the host closes stdin
//	exit       the engine ends without an error, and every line it sent was expected
//
// A script ends with exit, whether it says so or not; stdin is closed before. Lines of the engine
// are kept until they are expected: it never waits for the script but after pause.
func RunTranscript(t *testing.T, archive []byte, start Start) {
	t.Helper()
	scripts := parseArchive(archive)
	if len(scripts) == 0 {
		t.Fatal("the archive has no file")
	}
	for _, script := range scripts {
		t.Run(script.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlayer(start)
				defer p.stop()
				if err := p.play(script.text); err != nil {
					t.Errorf("%s:%v", script.name, err)
				}
			})
		})
	}
}

type script struct{ name, text string }

// parseArchive reads the txtar format: files after marker lines "-- NAME --", a comment before.
func parseArchive(archive []byte) (scripts []script) {
	for line := range strings.Lines(string(archive)) {
		text := strings.TrimRight(line, "\r\n")
		name, opened := strings.CutPrefix(text, "-- ")
		name, closed := strings.CutSuffix(name, " --")
		switch {
		case opened && closed:
			scripts = append(scripts, script{name: strings.TrimSpace(name)})
		case len(scripts) > 0:
			scripts[len(scripts)-1].text += text + "\n"
		}
	}
	return scripts
}

// player plays one script against one engine.
type player struct {
	in   *Feed
	out  *Reader
	wait func() error
	// taken is how many bytes of out were expected so far; ended is set by exit.
	taken int
	ended bool
	names matcher
}

func newPlayer(start Start) *player {
	source, target := io.Pipe()
	p := &player{in: NewFeed(), out: NewReader(source, Pace{}), names: matcher{}}
	p.wait = start(p.in, target)
	return p
}

// play returns what the first step that failed found, after the number and the text of its line.
func (p *player) play(text string) error {
	number := 0
	for line := range strings.Lines(text + "exit\n") {
		number++
		line = strings.TrimRight(line, "\n")
		if p.ended || line == "" || line[0] == '#' {
			continue
		}
		if err := p.step(line); err != nil {
			return fmt.Errorf("%d: %s: %w", number, line, err)
		}
	}
	return nil
}

// stop ends what a script that failed left running.
func (p *player) stop() {
	_ = p.in.Close()
	_ = p.out.Close()
	if !p.ended {
		_ = p.wait()
	}
}

func (p *player) step(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case ">":
		_, err := io.WriteString(p.in, p.names.insert(rest)+"\n")
		return err
	case "<":
		return p.expect([]byte(rest))
	case "sleep":
		return sleep(rest)
	case "quiet":
		synctest.Wait()
		return p.nothingLeft()
	case "pause":
		synctest.Wait()
		p.out.Pause()
	case "resume":
		p.out.Resume()
	case "close":
		return p.in.Close()
	case "exit":
		return p.exit()
	default:
		return fmt.Errorf("there is no such step")
	}
	return nil
}

func sleep(text string) error {
	duration, err := time.ParseDuration(text)
	if err == nil {
		time.Sleep(duration)
		synctest.Wait()
	}
	return err
}

// expect compares the next line with what is wanted.
func (p *player) expect(want []byte) error {
	late := time.AfterFunc(patience, func() {
		_ = p.out.source.Close()
		p.out.Resume()
	})
	defer late.Stop()
	var line []byte
	err := p.out.Wait(func(text []byte) bool {
		whole, _, found := bytes.Cut(text[p.taken:], []byte{'\n'})
		line = bytes.Clone(whole)
		return found
	})
	if err != nil {
		return fmt.Errorf("no line came: %w", err)
	}
	p.taken += len(line) + 1
	if err := p.names.match(want, line); err != nil {
		return fmt.Errorf("%w\n got %s", err, line)
	}
	return nil
}

func (p *player) nothingLeft() error {
	if left := p.out.Bytes()[p.taken:]; len(left) > 0 {
		return fmt.Errorf("not expected:\n%s", left)
	}
	return nil
}

func (p *player) exit() error {
	p.ended = true
	p.out.Resume()
	_ = p.in.Close()
	if err := p.wait(); err != nil {
		return fmt.Errorf("the engine ended with an error: %w", err)
	}
	synctest.Wait()
	return p.nothingLeft()
}
