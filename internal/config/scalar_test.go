package config

import (
	"testing"
	"testing/quick"
	"time"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "512B": 512, "64KiB": 64 << 10, "16MiB": 16 << 20, "2 GiB": 2 << 30,
		"1TiB": 1 << 40, "9223372036854775807": 1<<63 - 1,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "B", "MiB", "x", "1.5MiB", "1MB", "1mib", "-1", "-1KiB", "8388608TiB", "9223372036854775808"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

func TestFormatsParseBack(t *testing.T) {
	sizes := func(n uint32, shift uint8) bool {
		bytes := int64(n) << (shift % 31)
		got, err := ParseSize(FormatSize(bytes))
		return err == nil && got == bytes
	}
	durations := func(n uint32, unit uint8) bool {
		d := time.Duration(n%1e6) * []time.Duration{1, time.Millisecond, time.Second, time.Minute, time.Hour}[unit%5]
		got, err := ParseDuration(FormatDuration(d))
		return err == nil && got == d
	}
	for _, property := range []any{sizes, durations} {
		if err := quick.Check(property, &quick.Config{MaxCount: 2000}); err != nil {
			t.Error(err)
		}
	}
}

func TestFormatsAreHuman(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0", 1000: "1000", 64 << 10: "64KiB", 16 << 20: "16MiB", 3 << 30: "3GiB"} {
		if got := FormatSize(bytes); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s", 250 * time.Millisecond: "250ms", 90 * time.Second: "1m30s", 10 * time.Minute: "10m", 2 * time.Hour: "2h",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestMatchGlob(t *testing.T) {
	for _, test := range []struct {
		glob, name string
		want       bool
	}{
		{"*", "web/search", true}, {"*", "", true}, {"web/*", "web/a/b", true}, {"web/*", "fs/a", false},
		{"web/delete_*", "web/delete_all", true}, {"web/delete_*", "web/read", false},
		{"*/read", "fs/read", true}, {"*/read", "fs/reader", false}, {"f?/read", "fs/read", true},
		{"f?/read", "f/read", false}, {"fs/read", "fs/read", true}, {"fs/[a]", "fs/[a]", true},
		{"fs/[a]", "fs/a", false}, {"a*b*c", "a-b-b-c", true}, {"a*b*c", "a-c-b", false}, {"é?", "éé", true}, {"", "a", false},
	} {
		if got := MatchGlob(test.glob, test.name); got != test.want {
			t.Errorf("%s on %s: got %v", test.glob, test.name, got)
		}
	}
}

func TestApprovalNeeds(t *testing.T) {
	for _, test := range []struct {
		approval Approval
		want     bool
	}{
		{Approval{}, false}, {Approval{All: true}, true},
		{Approval{Globs: []string{"a/x", "web/delete_*"}}, true}, {Approval{Globs: []string{"web/read"}}, false},
	} {
		if got := test.approval.Needs("web/delete_all"); got != test.want {
			t.Errorf("%+v: got %v", test.approval, got)
		}
	}
}

func TestGPULayersCount(t *testing.T) {
	if n, counted := GPULayersAuto.Count(); n != 0 || counted {
		t.Errorf("auto: got %d, %v", n, counted)
	}
	if n, counted := GPULayers("33").Count(); n != 33 || !counted {
		t.Errorf("33: got %d, %v", n, counted)
	}
}
