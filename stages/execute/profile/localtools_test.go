package profile

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sluice/internal/wire"
)

var defaultTools = wire.LocalTools{TimeoutMS: 600_000, AllowedRoots: []string{}, BlockedCommands: []string{}}

func wantTools(t *testing.T, p *Profiles, want wire.LocalTools) {
	t.Helper()
	got, err := p.LocalTools()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("LocalTools = %+v, %v, want %+v", got, err, want)
	}
}

func TestConfigure(t *testing.T) {
	w := newWorld(t)
	p := w.engine()
	wantTools(t, p, defaultTools)
	yes, five, seven := true, int64(5000), int64(7000)
	root := t.TempDir()
	want := wire.LocalTools{Enabled: true, CWD: root, TimeoutMS: five, AllowedRoots: []string{root}, BlockedCommands: []string{"touch"}}
	got, err := p.Configure(nothing, wire.LocalToolsChange{Enabled: &yes, CWD: &root, TimeoutMS: &five, AllowedRoots: want.AllowedRoots, BlockedCommands: want.BlockedCommands})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("Configure = %+v, %v", got, err)
	}
	if got, err = p.Configure(nothing, wire.LocalToolsChange{TimeoutMS: &seven, AllowedRoots: []string{}}); err != nil {
		t.Fatal(err)
	}
	want.TimeoutMS, want.AllowedRoots = seven, []string{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Configure = %+v, want what isn't named unchanged: %+v", got, want)
	}
	wantTools(t, w.engine(), want)
	nowhere := ""
	if got, err = p.Configure(nothing, wire.LocalToolsChange{CWD: &nowhere}); err != nil || got.CWD != "" {
		t.Errorf("Configure = %+v, %v", got, err)
	}
}

func TestTimeoutIsBroughtIntoItsRange(t *testing.T) {
	p := newWorld(t).engine()
	for given, want := range map[int64]int64{-1: 1000, 0: 1000, 999: 1000, 1000: 1000, 3_600_000: 3_600_000, 3_600_001: 3_600_000, 1 << 62: 3_600_000} {
		got, err := p.Configure(nothing, wire.LocalToolsChange{TimeoutMS: &given})
		if err != nil || got.TimeoutMS != want {
			t.Errorf("%d became %d, %v, want %d", given, got.TimeoutMS, err, want)
		}
	}
}

func TestConfigurationsThatCannotBe(t *testing.T) {
	w := newWorld(t)
	p := w.engine()
	relative, zero := "relative", filepath.FromSlash("/a\x00b")
	for _, change := range []wire.LocalToolsChange{
		{CWD: &relative}, {CWD: &zero},
		{AllowedRoots: []string{""}}, {AllowedRoots: []string{"."}}, {AllowedRoots: []string{"/" + strings.Repeat("a", longestEntry)}},
		{AllowedRoots: make([]string, mostEntries+1)},
		{BlockedCommands: []string{" "}}, {BlockedCommands: []string{strings.Repeat("a", longestEntry+1)}}, {BlockedCommands: make([]string, mostEntries+1)},
	} {
		_, err := p.Configure(nothing, change)
		wantCode(t, err, wire.CodeUsage)
	}
	wantTools(t, p, defaultTools)
}

func TestToolsInTheFile(t *testing.T) {
	for member, code := range map[string]wire.Code{
		`"enabled":"yes"`: wire.CodeConfigInvalid, `"timeoutMs":1.5`: wire.CodeConfigInvalid, `"allowedRoots":"/"`: wire.CodeConfigInvalid,
		`"cwd":null,"allowedRoots":null,"timeoutMs":null`: "",
	} {
		w := newWorld(t)
		w.write(fmt.Sprintf(`{"localTools":{%s}}`, member))
		got, err := w.engine().LocalTools()
		wantCode(t, err, code)
		if code == "" && !reflect.DeepEqual(got, defaultTools) {
			t.Errorf("%s reads as %+v", member, got)
		}
	}
	w := newWorld(t)
	w.write(`{"localTools":{"timeoutMs":0,"enabled":"yes"}}`)
	yes := true
	got, err := w.engine().Configure(nothing, wire.LocalToolsChange{Enabled: &yes}) // sets right what is wrong
	if err != nil || got.TimeoutMS != shortestTimeout || !got.Enabled {
		t.Errorf("Configure = %+v, %v", got, err)
	}
}
