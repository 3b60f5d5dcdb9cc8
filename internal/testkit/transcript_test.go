package testkit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// parrot is an engine for these tests: it says each line after itself, numbered, a line "wait" one
// second later, and ends with an error after a line "fail".
func parrot(in io.Reader, out io.Writer) (wait func() error) {
	ended := make(chan error, 1)
	go func() { ended <- talk(in, out) }()
	return func() error { return <-ended }
}

func talk(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		switch lines.Text() {
		case "fail":
			return errors.New("told to fail")
		case "wait":
			time.Sleep(time.Second)
		}
		if _, err := fmt.Fprintf(out, "{\"n\":%d,\"said\":%q}\n", n, lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}

const archive = `Scripts that hold.

-- steps --
# a comment
> a b
> wait
< {"said":"a b","n":1}
quiet
sleep 999ms
quiet
sleep 1ms
< {"n":2,"said":"*"}
close
exit

-- names --
> one
< {"n":"$number","said":"$what"}
> {"a":"$what","b":"$nobody","c":"$number"}
< {"n":2,"said":"{\"a\":\"one\",\"b\":\"$nobody\",\"c\":\"$number\"}"}
> one
< {"n":3,"said":"$what"}

-- lines are kept until they are expected --
> 1
> 2
> 3
sleep 1h
< {"n":1,"said":"1"}
< {"n":2,"said":"2"}
< {"n":3,"said":"3"}

-- an expected line is waited for --
> wait
< {"n":1,"said":"wait"}

-- a pause stalls the engine --
pause
> 1
> 2
> 3
sleep 1s
< {"n":1,"said":"1"}
quiet
resume
< {"n":2,"said":"2"}
< {"n":3,"said":"3"}
`

func TestRunTranscript(t *testing.T) {
	started := 0
	RunTranscript(t, []byte(archive), func(in io.Reader, out io.Writer) func() error {
		started++
		return parrot(in, out)
	})
	if started != 5 {
		t.Errorf("%d engines were started for 5 scripts", started)
	}
}

// TestTranscriptFaults shows that each step can fail, and at which line.
func TestTranscriptFaults(t *testing.T) {
	for text, fault := range map[string]string{
		"> a\n< {\"n\":2,\"said\":\"a\"}\n":   `2: < {"n":2,"said":"a"}: $.n is 1; want 2`,
		"> a\n\nquiet\n":                      "3: quiet: not expected:\n{\"n\":1",
		"> a\nexit\n":                         "2: exit: not expected:",
		"> a\n":                               "2: exit: not expected:",
		"> fail\n":                            "2: exit: the engine ended with an error: told to fail",
		"< {}\n":                              "1: < {}: no line came",
		"> fail\n< {}\n":                      "2: < {}: no line came",
		"close\n> a\n":                        "2: > a: io: read/write on closed pipe",
		"sleep long\n":                        "1: sleep long: time: invalid duration",
		"pause\n> a\n> b\n< \"*\"\n< \"*\"\n": `5: < "*": no line came`,
		"> a\n< {\"n\":\"*\",\"said\":\"$x\"}\n> b\n< {\"n\":2,\"said\":\"$x\"}\n": `4: < {"n":2,"said":"$x"}: $.said is "b"; want "a"`,
		"dance\n": "1: dance: there is no such step",
		"> a\npause\n< {\"n\":1,\"said\":\"b\"}\n": `3: < {"n":1,"said":"b"}: $.said is "a"`,
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPlayer(parrot)
			defer p.stop()
			if err := p.play(text); err == nil || !strings.HasPrefix(err.Error(), fault) {
				t.Errorf("%q: got %v; want %q", text, err, fault)
			}
		})
	}
}

func TestFeed(t *testing.T) {
	f := NewFeed()
	_, _ = f.Write([]byte("ab"))
	_, _ = f.Write([]byte("cd"))
	b := make([]byte, 3)
	n, err := f.Read(b)
	if string(b[:n]) != "abc" || err != nil {
		t.Errorf("got %q, %v", b[:n], err)
	}
	_ = f.Close()
	rest, err := io.ReadAll(f)
	if string(rest) != "d" || err != nil {
		t.Errorf("after Close: %q, %v", rest, err)
	}
	if _, err := f.Write([]byte("e")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a write after Close: %v", err)
	}
}
