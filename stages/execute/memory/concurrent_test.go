package memory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"sluice/internal/testkit"
)

// TestManyAtOnce: chats of several engines ask while others end and the file is set aside under them.
func TestManyAtOnce(t *testing.T) {
	s, needle := built(t)
	model := newTopics()
	one := open(t, Options{Dir: s.dir, Embed: model.embed, EmbeddingModel: "m"})
	other := open(t, Options{Dir: s.dir})
	var chats sync.WaitGroup
	for i := range 8 {
		x := one
		if i%2 == 0 {
			x = other
		}
		chats.Go(func() {
			for range 5 {
				got, err := x.Retrieve(context.Background(), "ada", "two", "needle") // vectors bring others, too
				if err != nil || len(got) == 0 || got[0].Turn != needle {
					t.Errorf("got %v, %v", got, err)
				}
			}
		})
	}
	for i := range 10 {
		s.turn("ada", "one", fmt.Sprint("thread ", i), "")
	}
	chats.Wait()
}

// TestALongBuild: a chat waits for it only so long, and is served what is there; the building goes on.
func TestALongBuild(t *testing.T) {
	s := newSessions(t, t.TempDir())
	s.many(4*batchTurns, `'hay ' || i`, `''`)
	last := s.turn("ada", "one", "needle", "")
	x := open(t, Options{Dir: s.dir, BuildWait: time.Nanosecond})
	find(t, x, "ada", "two", "needle")
	testkit.Until(t, "the turn stored last is found", func() bool {
		got := find(t, x, "ada", "two", "needle")
		return len(got) == 1 && got[0] == last
	})
}

// TestCloseEndsABuild, and another Index goes on where it ended.
func TestCloseEndsABuild(t *testing.T) {
	s := newSessions(t, t.TempDir())
	s.many(4*batchTurns, `'hay ' || i`, `''`)
	last := s.turn("ada", "one", "needle", "")
	x := open(t, Options{Dir: s.dir, BuildWait: time.Nanosecond})
	find(t, x, "ada", "two", "needle")
	closeIndex(t, x)
	closeIndex(t, x)
	wantTurns(t, find(t, open(t, Options{Dir: s.dir}), "ada", "two", "needle"), last)
}

// TestCloseEndsARetrieve that waits for a model which never answers.
func TestCloseEndsARetrieve(t *testing.T) {
	s := newSessions(t, t.TempDir())
	s.turn("ada", "one", "needle", "")
	asked := make(chan struct{}, 9)
	silent := func(ctx context.Context, _ []string) ([][]float32, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	x := open(t, Options{Dir: s.dir, Embed: silent, EmbeddingModel: "m", EmbedTimeout: time.Hour})
	ended := make(chan error, 1)
	go func() {
		_, err := x.Retrieve(context.Background(), "ada", "two", "needle")
		ended <- err
	}()
	<-asked
	closeIndex(t, x)
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// TestCloseGivesUp when its context ends first.
func TestCloseGivesUp(t *testing.T) {
	s := newSessions(t, t.TempDir())
	s.turn("ada", "one", "needle", "")
	release, asked := make(chan struct{}), make(chan struct{}, 9)
	deaf := func(context.Context, []string) ([][]float32, error) {
		asked <- struct{}{}
		<-release
		return nil, errors.New("too late")
	}
	x := open(t, Options{Dir: s.dir, Embed: deaf, EmbeddingModel: "m", EmbedTimeout: time.Millisecond})
	find(t, x, "ada", "two", "needle") // isn't kept by it either
	<-asked
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("no more time"))
	if err := x.Close(ctx); err == nil {
		t.Error("Close didn't tell that something still runs")
	}
	close(release)
}

// TestAnotherEngineHoldsTheFile: a chat doesn't wait for it longer than for a build, and isn't told.
func TestAnotherEngineHoldsTheFile(t *testing.T) {
	s, needle := built(t)
	holder, err := openStore(context.Background(), filepath.Join(s.dir, "memory.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer holder.close()
	x := open(t, Options{Dir: s.dir})
	wantTurns(t, find(t, x, "ada", "two", "needle"), needle)
	tx, err := holder.write.Begin()
	if err != nil {
		t.Fatal(err)
	}
	later := s.turn("ada", "one", "thread", "")
	x.options.BuildWait = time.Millisecond
	wantTurns(t, find(t, x, "ada", "two", "needle"), needle)
	wantTurns(t, find(t, x, "ada", "two", "thread"))
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	x.options.BuildWait = time.Minute
	wantTurns(t, find(t, x, "ada", "two", "thread"), later)
}

// TestReadOnlySessions: a sessions.db whose folder can't be written is read all the same. Its folder
// stands for one that even root can't write: SQLite is refused its -shm file by a folder of that name.
func TestReadOnlySessions(t *testing.T) {
	s := newSessions(t, t.TempDir())
	turn := s.turn("ada", "one", "needle", "")
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.dir, "sessions.db-shm"), 0o700); err != nil {
		t.Fatal(err)
	}
	wantTurns(t, find(t, open(t, Options{Dir: s.dir}), "ada", "two", "needle"), turn)
}
