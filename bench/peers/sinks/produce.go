package main

import (
	"fmt"
	"sync"
	"time"

	"sluice/internal/bench/tokens"
)

const (
	// backlogBytes may wait before producers pause, so that no sink without bounds has to drop
	// anything or to grow. All of these pause by the same rule.
	backlogBytes = 16 << 20
	// backlogPause is how long a producer then stays away; less than the backlog takes to drain.
	backlogPause = 100 * time.Microsecond
	// backlogEvery is after how many lines a producer looks.
	backlogEvery = 256

	// maxTokens is how many tokens a line has at most; it has at least one.
	maxTokens = 10

	lineHead = `{"id":"%d","type":"event","event":"llm_chunk","step":0,"delta":"`
	lineTail = "\"}\n"
)

// line is a whole line and where its text lies in it.
type line struct {
	bytes     []byte
	textStart int
	textEnd   int
}

// newLines renders a producer's lines, with one to maxTokens tokens.
func newLines(producer int) []line {
	head := fmt.Sprintf(lineHead, producer)
	lines := make([]line, maxTokens)
	for i := range lines {
		text := string(make([]byte, (i+1)*tokens.PlainWidth))
		lines[i] = line{[]byte(head + text + lineTail), len(head), len(head) + len(text)}
	}
	return lines
}

// number gives the tokens of a line their sequence numbers from first on and returns the next one.
func (l line) number(first int) (next int) {
	for at := l.textStart; at < l.textEnd; at += tokens.PlainWidth {
		tokens.PutPlain(l.bytes[at:], first%tokens.Limit)
		first++
	}
	return first
}

func produceAll(s sink, producers, lines int) {
	var all sync.WaitGroup
	for i := range producers {
		count := lines / producers
		if i < lines%producers {
			count++
		}
		take := s.producer(i)
		all.Go(func() { produce(s, take, newLines(i), count) })
	}
	all.Wait()
}

func produce(s sink, take func(line), lines []line, count int) {
	next := 0
	for i := range count {
		l := lines[i%len(lines)]
		next = l.number(next)
		take(l)
		if i%backlogEvery == 0 {
			for s.waiting() > backlogBytes {
				time.Sleep(backlogPause)
			}
		}
	}
}
