package llama

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/wire"
)

func TestSilenceAloneIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s, stop := m.attach(t, ServerOptions{})
		defer stop()
		lease := acquire(t, s)
		defer lease.Release()
		watched, silence, end := lease.Watch(t.Context())
		defer end()
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		if watched.Err() != nil {
			t.Errorf("ended: %v", context.Cause(watched))
		}
		if n := m.count("/health"); n != 120 {
			t.Errorf("asked %d times in 10 minutes", n)
		}
		for range 600 { // bytes that come every second
			silence.Touch()
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if n := m.count("/health"); n != 120 {
			t.Errorf("asked %d times while bytes came", n-120)
		}
	})
}

func TestADeafServerFailsItsLeases(t *testing.T) {
	for name, deafen := range map[string]func(*memory){
		"no answer":     func(m *memory) { m.route("/health", mute) },
		"no connection": func(m *memory) { m.refuse(true) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				s, stop := m.attach(t, ServerOptions{})
				defer stop()
				var all sync.WaitGroup
				start := time.Now()
				for n := range 3 {
					all.Go(func() {
						lease := acquire(t, s)
						defer lease.Release()
						time.Sleep(time.Duration(n) * 1700 * time.Millisecond)
						watched, silence, end := lease.Watch(t.Context())
						defer end()
						silence.Touch()
						last := time.Now()
						<-watched.Done()
						wantFault(t, context.Cause(watched), wire.CodeInternal, "30s", "/health")
						if took := time.Since(last); took < 30*time.Second || took > 40*time.Second {
							t.Errorf("lease %d failed after %s", n, took)
						}
					})
				}
				synctest.Wait()
				deafen(m)
				all.Wait()
				if n := m.count("/health"); n > 10 {
					t.Errorf("three leases asked %d times in %s", n, time.Since(start))
				}
				m.refuse(false)
				before := m.count("/props")
				acquire(t, s).Release()
				if m.count("/props") == before {
					t.Error("the server was not checked anew")
				}
			})
		})
	}
}

func TestALateAnswerIsAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute) // of the test's time, in which the last answers end
		m := newMemory()
		s, stop := m.attach(t, ServerOptions{})
		defer stop()
		m.route("/health", func(http.ResponseWriter, *http.Request) { time.Sleep(20 * time.Second) })
		lease := acquire(t, s)
		defer lease.Release()
		watched, _, end := lease.Watch(t.Context())
		defer end()
		time.Sleep(5 * time.Minute)
		if watched.Err() != nil {
			t.Errorf("ended: %v", context.Cause(watched))
		}
	})
}

func TestTheWatchEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s, stop := m.attach(t, ServerOptions{})
		defer stop()
		lease := acquire(t, s)
		defer lease.Release()
		ctx, cancel := context.WithCancel(t.Context())
		watched, _, end := lease.Watch(ctx)
		cancel()
		<-watched.Done()
		end()
		watched, _, end = lease.Watch(t.Context())
		end()
		if watched.Err() == nil {
			t.Error("the context outlives the watch")
		}
	})
}

func TestTouchCostsNothing(t *testing.T) {
	silence := &Silence{start: time.Now()}
	if n := testing.AllocsPerRun(100, silence.Touch); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
