package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/testkit"
	"sluice/internal/wire"
	"sluice/stages/execute"
)

// toldLane notes what a chat hands over, and when.
type toldLane struct {
	Lane
	start time.Time

	mu    sync.Mutex
	lines []string
	done  bool
}

func (l *toldLane) Push(_ context.Context, element any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return errors.New("the final frame was handed over")
	}
	for _, f := range element.(*wire.Frames).Items {
		text := "(deferred)"
		if f.Deferred == nil {
			text = string(bytes.Join([][]byte{f.Head, f.Text, f.Tail}, nil))
		}
		l.lines = append(l.lines, fmt.Sprintf("%d %s", time.Since(l.start).Milliseconds(), strings.TrimSuffix(text, "\n")))
	}
	return nil
}

func (l *toldLane) Finish(wire.Frame) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	l.lines = append(l.lines, fmt.Sprintf("%d done", time.Since(l.start).Milliseconds()))
	return nil
}

// lanes are a sink that gives everybody the same lane.
type lanes struct {
	Sink
	lane Lane
}

func (s lanes) Lane(wire.ID) Lane { return s.lane }
func (s lanes) Replies() Lane     { return s.lane }

// telling is a chat whose host switched the extensions on, in a bubble; check compares what it told, a
// line each: the millisecond and what is behind the event's name.
type telling struct {
	execute.Chat
	lane     *toldLane
	pipeline *Pipeline
}

func tells(t *testing.T, extensions execute.Extensions, script func(c *telling), want ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		lane := &toldLane{start: time.Now()}
		p := graph(context.Background(), strings.NewReader(""), nil, &scriptedModels{}, func(o *Options) { o.Sink = lanes{lane: lane} })
		c := &telling{Chat: p.Chat("1", extensions), lane: lane, pipeline: p}
		script(c)
		c.Finish(&wire.ChatDone{})
		time.Sleep(time.Minute)
		synctest.Wait()
		for i, line := range lane.lines {
			line = strings.Replace(line, `{"id":1,"type":"event","event":"`, "", 1)
			lane.lines[i] = strings.TrimSuffix(line, "}")
		}
		if !slices.Equal(lane.lines, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(lane.lines, "\n"), strings.Join(want, "\n"))
		}
	})
}

var withProgress = execute.Extensions{Progress: true}

func (c *telling) event(kind wire.EventKind) { c.Event(wire.Event{Kind: kind}) }

// step runs a model step of a scripted server, a second a word.
func (c *telling) step(t *testing.T, script string) {
	c.event(wire.EventLLMStart)
	request := &wire.ModelRequest{Messages: []wire.Message{{Content: script}}}
	if _, err := c.Step(context.Background(), scriptedLease{}, 0, request, func(int64) {}); err != nil {
		t.Error(err)
	}
	c.event(wire.EventLLMDone)
}

func loading(fraction float64, detail string) *wire.Progress {
	return &wire.Progress{Stage: wire.PhaseModelLoad, Fraction: fraction, Detail: detail}
}

// TestProgressFromEverywhere: whoever tells, and whenever, events keep their order, the final frame is
// the last and counts what came.
func TestProgressFromEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target, reader := testkit.MemoryPipe(t, testkit.Pace{})
		p := graph(context.Background(), strings.NewReader(""), target, &scriptedModels{}, nil)
		go p.options.Sink.Run()
		var others sync.WaitGroup
		const chats = 8
		for i := range chats {
			c := &telling{Chat: p.Chat(wire.ID(fmt.Sprint(i)), withProgress)}
			for n := range 3 {
				others.Go(func() {
					for range 100 {
						time.Sleep(time.Duration(n+7) * 13 * time.Millisecond)
						c.Progress(loading(-1, fmt.Sprint(n)))
						c.Progress(nil)
					}
				})
			}
			others.Go(func() {
				c.step(t, "PROGRESS a b (hm) CALL c")
				c.Finish(&wire.ChatDone{Timings: func() wire.Timings { return wire.Timings{} }})
			})
		}
		others.Wait()
		if err := p.options.Sink.Close(context.Background(), 0); err != nil {
			t.Error(err)
		}
		_ = target.Close()
		text, _ := reader.All()
		for i := range chats {
			checkTold(t, strings.Split(string(text), "\n"), fmt.Sprintf(`{"id":%d,`, i))
		}
	})
}

// checkTold checks the lines of one chat.
func checkTold(t *testing.T, all []string, head string) {
	t.Helper()
	var events, told int
	var order []string
	for _, line := range all {
		if !strings.HasPrefix(line, head) {
			continue
		}
		if events++; strings.Contains(line, `"event":"progress"`) {
			told++
			continue
		}
		_, kind, _ := strings.Cut(line, `"type":`)
		order = append(order, kind)
	}
	if got := len(order); got != 6 || !strings.HasPrefix(order[0], `"event","event":"llm_start"`) || !strings.HasPrefix(order[5], `"result"`) || told < 5 {
		t.Fatalf("%d of progress among %s", told, order)
	}
	var sent, merged int
	_, counts, _ := strings.Cut(order[5], `"events":{"sent":`)
	if _, err := fmt.Sscanf(counts, `%d,"merged":%d,"dropped":0}`, &sent, &merged); err != nil || sent != events-1 {
		t.Errorf("%d event lines came, the final frame tells %s", events-1, counts)
	}
}
