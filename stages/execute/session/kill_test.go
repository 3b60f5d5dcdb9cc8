package session

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sluice/internal/wire"
)

func init() {
	children["turns"] = childOfTurns
	children["stops"] = childThatStops
}

// child starts this binary as a child process.
func child(t *testing.T, name string, arguments ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	command := exec.Command(os.Args[0], arguments...)
	command.Env = append(os.Environ(), childVariable+"="+name)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	return command, bufio.NewScanner(out)
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// response is what a turn was answered, so long that it needs several pages now and then.
func response(name string) string {
	n, _ := strconv.Atoi(name[strings.LastIndexByte(name, '.')+1:])
	return strings.Repeat(name+" ", 1+n%7*200)
}

// childOfTurns runs turns in several sessions until it is killed, and prints a line after each.
func childOfTurns(arguments []string) int {
	store := New(Options{Dir: arguments[0]})
	var all sync.WaitGroup
	var out sync.Mutex
	for i := range 3 {
		all.Go(func() {
			for n := 0; ; n++ {
				name := fmt.Sprintf("%s.%d.%d", arguments[1], i, n)
				if err := runTurn(store, fmt.Sprint("s", i), name); err != nil {
					fail(err)
					return
				}
				out.Lock()
				fmt.Println(name)
				out.Unlock()
			}
		})
	}
	all.Wait()
	return 1
}

func runTurn(store *Store, session, name string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, "u", session, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	turn := newTurn(name)
	step := &wire.TurnStep{Text: name, Calls: []wire.TurnCall{{Tool: "a/b"}}}
	for _, write := range []func() error{
		func() error { return s.Begin(ctx, turn) },
		func() error { return s.SaveStep(ctx, turn.ID, step) },
		func() error { return s.StartCall(ctx, turn.ID, 0, 0) },
		func() error {
			return s.EndCall(ctx, turn.ID, 0, 0, &wire.ToolResult{Status: wire.ToolOK, Text: response(name)})
		},
		func() error { return s.End(ctx, turn.ID, wire.TurnDone, response(name)) },
	} {
		if err := write(); err != nil {
			return err
		}
	}
	if warnings := s.Warnings(); len(warnings) > 0 {
		return fmt.Errorf("warnings %q", warnings)
	}
	return nil
}

// kills is how often an engine is killed.
const kills = 1000

// A thousand kills at random moments: every turn whose End returned is there, whole, and the file is in
// order. Engines run side by side, so that one writes while another is killed and goes on from there.
func TestNothingIsLostByKills(t *testing.T) {
	dir := t.TempDir()
	const engines = 10
	printed := make([][]string, engines)
	var all sync.WaitGroup
	for e := range engines {
		all.Go(func() {
			for n := range kills / engines {
				printed[e] = append(printed[e], killedLife(t, dir, fmt.Sprintf("%d.%d", e, n))...)
			}
		})
	}
	all.Wait()
	checkKilled(t, dir, printed)
}

// killedLife starts an engine and kills it after some lines, in the middle of whatever it does then.
func killedLife(t *testing.T, dir, name string) (printed []string) {
	command, lines := child(t, "turns", dir, name)
	spin := 0
	for left := rand.IntN(4); left > 0 && lines.Scan(); left-- {
		printed = append(printed, lines.Text())
	}
	for range rand.IntN(200_000) { // some part of a turn
		spin++
	}
	if err := command.Process.Kill(); err != nil {
		t.Error(err)
	}
	for lines.Scan() {
		printed = append(printed, lines.Text())
	}
	_ = command.Wait() // it was killed
	if code := command.ProcessState.ExitCode(); code != -1 || spin < 0 {
		t.Errorf("the engine ended by itself: %v", command.ProcessState)
	}
	return printed
}

func checkKilled(t *testing.T, dir string, printed [][]string) {
	t.Helper()
	store := newStore(t, Options{Dir: dir})
	stored := map[string]wire.Turn{}
	for i := range 3 {
		s := open(t, store, "u", fmt.Sprint("s", i))
		for _, turn := range history(t, s) {
			stored[turn.Input] = turn
		}
		noWarnings(t, s)
		s.Close()
	}
	count := 0
	for _, names := range printed {
		for _, name := range names {
			count++
			turn := stored[name]
			if turn.Status != wire.TurnDone || turn.Response != response(name) || turn.Steps[0].Calls[0].Result.Text != response(name) {
				t.Errorf("turn %s: %+v", name, turn)
			}
		}
	}
	t.Logf("%d turns were answered, %d are stored", count, len(stored))
	if count < kills {
		t.Errorf("only %d turns", count)
	}
	must(t, store.do(context.Background(), func(b *base) error {
		report, err := b.text("PRAGMA quick_check")
		if report != "ok" {
			t.Errorf("the file is damaged: %s", report)
		}
		return err
	}))
	if files := aside(dir); len(files) != 0 {
		t.Errorf("set aside: %q", files)
	}
}

// childThatStops stays in the middle of a turn.
func childThatStops(arguments []string) int {
	ctx := context.Background()
	s, err := New(Options{Dir: arguments[0]}).Open(ctx, "u", "s", nil)
	if err != nil {
		return fail(err)
	}
	turn := newTurn("interrupted")
	first := &wire.TurnStep{Text: "first", Calls: make([]wire.TurnCall, 3)}
	for _, err := range []error{
		s.Begin(ctx, turn), s.SaveStep(ctx, turn.ID, first),
		s.StartCall(ctx, turn.ID, 0, 0), s.StartCall(ctx, turn.ID, 0, 1),
		s.EndCall(ctx, turn.ID, 0, 1, &wire.ToolResult{Status: wire.ToolOK, Text: "result"}),
	} {
		if err != nil {
			return fail(err)
		}
	}
	fmt.Println("stopped")
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
	select {}
}

func TestAKilledTurnIsThereAsFarAsItCame(t *testing.T) {
	dir := t.TempDir()
	command, lines := child(t, "stops", dir)
	if !lines.Scan() {
		t.Fatal("it did not begin")
	}
	store := newStore(t, Options{Dir: dir})
	waiting := openLater(context.Background(), store, "u", "s")
	<-waiting.waits // the session is the other engine's
	must(t, command.Process.Kill())
	_ = command.Wait() // it was killed
	s := <-waiting.opened
	defer s.Close()
	noWarnings(t, s)
	turn := last(t, s)
	if turn == nil || turn.Status != wire.TurnRunning || len(turn.Steps) != 1 || turn.Steps[0].Text != "first" {
		t.Fatalf("got %+v", turn)
	}
	calls := turn.Steps[0].Calls
	if !calls[0].Started || calls[0].Result != nil || !calls[1].Started || calls[1].Result.Text != "result" || calls[2].Started {
		t.Errorf("got %+v", calls)
	}
	must(t, s.Resume(context.Background(), turn.ID))
	must(t, s.End(context.Background(), turn.ID, wire.TurnDone, "resumed"))
}
