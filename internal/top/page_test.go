package top

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

var update = flag.Bool("update", false, "write the golden files")

var engines = map[string]func() (before, after counters){"idle": idle, "busy": busy, "crowd": crowd, "hostile": hostile}

func pageOf(t *testing.T, engine string, width, height int) page {
	t.Helper()
	before, after := engines[engine]()
	now := after.snapshot(t)
	return page{
		address: "127.0.0.1:39211", now: now, rates: Compare(before.snapshot(t), now),
		zone: time.UTC, width: width, height: height,
	}
}

func TestPageGolden(t *testing.T) {
	for name, p := range map[string]page{
		"idle-80x24":    pageOf(t, "idle", 80, 24),
		"busy-80x24":    pageOf(t, "busy", 80, 24),
		"busy-132x40":   pageOf(t, "busy", 132, 40),
		"busy-50x30":    pageOf(t, "busy", 50, 30),
		"busy-text":     pageOf(t, "busy", 80, 0),
		"crowd-80x24":   pageOf(t, "crowd", 80, 24),
		"hostile-80x24": pageOf(t, "hostile", 80, 24),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".txt")
			got := p.text() + "\n"
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || got != string(want) {
				t.Errorf("the page is\n%s\nwant\n%s(%v)", got, want, err)
			}
		})
	}
}

// A page fills its screen and never more, whatever the size, and no engine reaches the terminal
// through it. Styles take no room.
func TestPageFitsEveryScreen(t *testing.T) {
	for name := range engines {
		for _, width := range []int{1, 20, 40, 75, 76, 80, 100, 250} {
			for _, height := range []int{1, 2, 5, 10, 24, 60, 200} {
				p := pageOf(t, name, width, height)
				plain := p.text()
				lines := strings.Split(plain, "\n")
				if len(lines) != height {
					t.Errorf("%s at %dx%d has %d lines", name, width, height, len(lines))
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > max(width, minWidth) || strings.ContainsFunc(line, unicode.IsControl) {
						t.Errorf("%s at %dx%d has the line %q", name, width, height, line)
					}
				}
				p.paint.on = true
				if painted := p.text(); unpadded(ansi.Strip(painted)) != plain {
					t.Errorf("%s at %dx%d differs when painted:\n%s", name, width, height, painted)
				}
			}
		}
	}
}

// unpadded takes away spaces that a style ended behind.
func unpadded(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func TestNoticeStaysOnANarrowScreen(t *testing.T) {
	p := pageOf(t, "busy", 40, 24)
	p.notice = noticePaused
	first, _, _ := strings.Cut(p.text(), "\n")
	if !strings.HasSuffix(first, "  paused") || ansi.StringWidth(first) != 40 {
		t.Errorf("the first line is %q", first)
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		share, peak float64
		want        string
	}{
		{0, 0, "          "},
		{0.001, 0.001, "|         "},
		{0.001, 0.001, "|         "},
		{0, 0.5, "    !     "},
		{0.3, 1, "|||      !"},
		{0.5, 0.5, "|||||     "},
		{1, 1, "||||||||||"},
		{3, 7, "||||||||||"},
	} {
		if got := bar(10, c.share, c.peak); got != c.want {
			t.Errorf("bar(%v, %v) is %q, want %q", c.share, c.peak, got, c.want)
		}
	}
}

// TestPageOfALiar: whatever numbers an answer has, there is a page.
func TestPageOfALiar(t *testing.T) {
	for _, text := range []string{
		`{"uptime_ms":1e300,"queue":{"frames":-5,"bytes":-5,"max_frames":-9223372036854775808,"max_bytes":9223372036854775807},
			"bounds":{"pending_bytes":1},"written":{"frames":-9223372036854775808,"bytes":-1}}`,
		`{"uptime_ms":-1,"queue":{"bytes":9223372036854775807,"max_bytes":9223372036854775807},"bounds":{"pending_bytes":1},"written":{},
			"chats":[{"id":null,"tokens":-9223372036854775808,"since_ms":-1e300}],"stages":[{"name":"","count":-1,"busy_ms":1e300}]}`,
	} {
		s, err := ParseSnapshot([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range [][2]int{{0, 0}, {20, 1}, {80, 24}, {200, 60}} {
			p := page{now: s, rates: Compare(s, s), zone: time.UTC, width: size[0], height: size[1]}
			if got := p.text(); !strings.Contains(got, "sluice") && size[1] != 1 {
				t.Errorf("%v: got %q", size, got)
			}
		}
	}
}

func TestVisible(t *testing.T) {
	for _, c := range []struct{ n, rows, scroll, first, shown int }{
		{3, 5, 0, 0, 3}, {3, 3, 2, 0, 3}, {9, 5, 0, 0, 4}, {9, 5, 3, 3, 4}, {9, 5, 99, 5, 4}, {9, 5, -1, 0, 4}, {9, 0, 0, 0, 0}, {9, -4, 3, 3, 0}, {0, 0, 0, 0, 0},
	} {
		if first, shown := visible(c.n, c.rows, c.scroll); first != c.first || shown != c.shown {
			t.Errorf("%+v: %d, %d", c, first, shown)
		}
	}
}
