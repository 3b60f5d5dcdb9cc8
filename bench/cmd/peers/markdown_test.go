package main

import (
	"strings"
	"testing"
	"time"
)

func TestTablesShowMedians(t *testing.T) {
	b := &bench{settings: settings{sizes: sizes{slowTokens: 2_000_000, smallTokens: 200_000, stall: 10 * time.Second}}}
	for _, rate := range []float64{2.5e6, 1.25e6, 100} {
		b.addThroughput("fast", outcome{eventsPerSecond: rate, cpu: 0.25, peakRSS: 14 << 20}, 2.5e6)
	}
	for _, part := range []float64{0.004, 0.12} {
		b.figures.add("W3", "slow", map[string]float64{fastSeconds: 1, stallSeconds: 12.34, lost: part, rss: 900 << 20})
	}
	b.figures.add("W6", "sink", map[string]float64{lines: 7.5e6, cpu: 0.1, allocations: 1, lost: 0.004})
	text := b.markdown("Medians")
	for _, want := range []string{
		"| fast | 1.25 M | 0.25 | 0.50 | 0 | 14 MiB |",
		"stops for 10s (W3, 2,000,000 tokens; Benthos 200,000)",
		"| slow | 1.00 → 12.3 s | 6 % | 900 MiB |",
		"| sink | 7.50 M | 0.10 | 1.00 | < 1 % |",
		"Medians on ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if text := (&bench{}).markdown("Medians"); text != "" {
		t.Errorf("nothing was measured: %q", text)
	}
}

func TestDigitsKeepWhatSaysSomething(t *testing.T) {
	for value, want := range map[float64]string{123.4: "123", 12.34: "12.3", 1.234: "1.23", 0.1234: "0.12", 0.0123: "0.012"} {
		if got := digits(value); got != want {
			t.Errorf("digits(%v) = %s, want %s", value, got, want)
		}
	}
}

func TestThousands(t *testing.T) {
	for count, want := range map[int]string{7: "7", 700: "700", 7000: "7,000", 1234567: "1,234,567"} {
		if got := thousands(count); got != want {
			t.Errorf("thousands(%d) = %s, want %s", count, got, want)
		}
	}
}

func TestLinesAreCountedWithoutTheFigures(t *testing.T) {
	c := &lineCounter{done: make(chan struct{})}
	c.ReadLines([]byte("a\nb\n"), 1)
	c.ReadLines([]byte("c\n"+`{"type":"result","lines":3}`+"\n"), 2)
	<-c.done
	if c.lines != 3 || string(c.last) != `{"type":"result","lines":3}`+"\n" {
		t.Errorf("%d lines, last %q", c.lines, c.last)
	}
}
