package execute

import (
	"testing"
	"time"

	"sluice/internal/wire"
)

// cancelled checks the answer to a cancel.
func (w *world) cancelled(reply wire.Reply, target wire.ID) {
	w.t.Helper()
	if done, ok := reply.(*wire.CancelDone); !ok || done.Target != target || done.Cancelled != (target != "") {
		w.t.Errorf("got %+v; want %q", reply, target)
	}
}

// ended checks the final frame of a chat that was cancelled.
func (w *world) ended(id wire.ID, response string, stop time.Duration) {
	w.t.Helper()
	done := w.out.done(id)
	if done == nil || done.Fault == nil || done.Fault.Code != wire.CodeCancelled || string(done.Response) != response || done.Stop != stop {
		w.t.Errorf("%s ended with %+v", id, done)
	}
}

const unseen = time.Duration(-1)

func TestCancelOfAWaitingChat(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 1}, func(w *world) {
		w.chat("1s", "a", "b", "c")
		w.out.taken()
		w.cancelled(w.cancelling("b"), "b")
		w.saying("0s ask CancelDone", "0s b cancelled")
		w.ended("b", "", unseen)
		w.after(time.Second)
		w.after(time.Second)
		if c := w.out.done("c"); c == nil || c.Fault != nil {
			t.Errorf("the chat behind it ended with %+v", c)
		}
	})
}

func TestCancelWhileTheServerStarts(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.chatWith("a", &wire.ChatParams{Agent: "slow"})
		w.after(90 * time.Second)
		w.cancelled(w.cancelling("a"), "a")
		w.saying("0s a run_start", "1m30s ask CancelDone", "1m30s a cancelled")
		w.ended("a", "", unseen)
	})
}

func TestCancelOfARunningChat(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.models.idle = 300 * time.Millisecond
		w.chat("1h", "a")
		w.after(time.Second)
		w.cancelled(w.cancelling("a"), "a")
		w.after(100 * time.Millisecond)
		w.cancelled(w.cancelling("a"), "a") // again: it changes nothing
		w.after(time.Second)
		w.saying("0s a run_start", "0s a llm_start", "1s ask CancelDone", "1s a llm_done", "1.1s ask CancelDone", "1.3s a cancelled")
		w.ended("a", "half", 300*time.Millisecond)
		w.cancelled(w.cancelling("a"), "")
	})
}

// TestCancelWithABusyServer ends within a second although the server is never seen idle.
func TestCancelWithABusyServer(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.models.idle = 0
		w.chat("1h", "a")
		w.cancelling("a")
		w.after(time.Second)
		w.saying("0s a run_start", "0s a llm_start", "0s ask CancelDone", "0s a llm_done", "800ms a cancelled")
		w.ended("a", "half", unseen)
	})
}

func TestCancelOfNothing(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.cancelled(w.cancelling(""), "")
		w.cancelled(w.cancelling(`"a"`), "")
		w.chat("1h", "1")
		for _, other := range []wire.ID{`"1"`, "1.0", "01", "2"} {
			w.cancelled(w.cancelling(other), "")
		}
		w.chat("0s", "over")
		w.cancelled(w.cancelling("over"), "")
		w.cancelled(w.cancelling("1"), "1")
	})
}

func TestCancelWithoutAName(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 1}, func(w *world) {
		w.chat("1h", "a", "b")
		if fault, ok := w.cancelling("").(*wire.Fault); !ok || fault.Code != wire.CodeInvalidRequest {
			t.Errorf("got %v", fault)
		}
		w.cancelled(w.cancelling("a"), "a")
		w.after(time.Second)
		w.cancelled(w.cancelling(""), "b")
		w.after(time.Second)
		w.ended("a", "half", 100*time.Millisecond)
		w.ended("b", "half", 100*time.Millisecond)
		w.cancelled(w.cancelling(""), "")
	})
}

// TestCancelIsKept cancels a chat whose server fails at the same moment: it was told true.
func TestCancelIsKept(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.out.gate = make(chan struct{})
		w.chat("fail", "a")
		close(w.out.gate)
		w.cancelled(w.cancelling("a"), "a")
		w.after(time.Second)
		if done := w.out.done("a"); done.Fault == nil || done.Fault.Code != wire.CodeCancelled {
			t.Errorf("got %+v", done.Fault)
		}
	})
}
