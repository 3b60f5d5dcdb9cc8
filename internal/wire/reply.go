package wire

import "time"

// Reply is what a request ends with; each protocol's encoder renders it. The kinds are the pointer
// types of this file and of rpcreply.go, and *Fault for a request that failed without having run.
type Reply any

// Pong answers ping.
type Pong struct{}

// Initialized answers initialize.
type Initialized struct {
	ProtocolVersion  int64
	ServerVersion    string
	MaxParallelChats int
	// Lossless says that text is merged rather than dropped: output.on_full is coalesce.
	Lossless   bool
	Extensions []string
}

// CancelDone answers cancel: Target is the empty ID when there was nothing to cancel.
type CancelDone struct {
	Cancelled bool
	Target    ID
}

// ShutdownDone answers shutdown.
type ShutdownDone struct{}

// ApproveDone answers approve; not accepted means that no such call waits.
type ApproveDone struct{ Accepted bool }

// WarmupDone answers warmup.
type WarmupDone struct{ Load time.Duration }

// Document answers a request with a JSON object that somebody else has written, white space and all: it is
// rendered by AppendObject. Nobody changes it any more.
type Document struct{ JSON []byte }

// ChatDone answers a chat that was accepted: the result, or with Fault set an error that carries
// what the chat had.
type ChatDone struct {
	Fault *Fault
	// Response is the whole text, escaped for the inside of a JSON string; the owner doesn't change
	// it after the reply was handed over.
	Response           []byte
	SessionID, TraceID string
	Warnings           []string
	Usage              *Usage
	// Timings is called by the encoder when the writer takes the frame: until then the chat waits
	// for the reader.
	Timings      func() Timings
	FinishReason string
	Steps        int
	// Stop is the time until the server was seen idle after a cancel; negative when it wasn't.
	Stop time.Duration
}

// Timings says where a chat's time went. TTFT is when the first text came, from the acceptance on; Plan is
// the part of Load in which the server's start was planned; Total is the sum of the others.
type Timings struct {
	Queue, Load, Plan, TTFT, Total, Upstream, Tool, Engine, Reader time.Duration
}

// Stats answers stats.
type Stats struct {
	Uptime          time.Duration
	Queue           QueueStats
	Written         WrittenStats
	Merged, Dropped int64
	StallReader     StallStats
	StallUpstream   StallStats
	StallEngine     StallStats
	Stages          []StageStats
	Chats           []ChatStats

	// The rest is no part of the method's result; the debug endpoint tells it.

	// Sent counts the event lines handed to stdout.
	Sent     int64
	Requests []RequestStats
	// ChatTime sums the timings of all chats whose final frame the writer has taken.
	ChatTime Timings
}

// RequestStats counts the requests of one method that ended in one way: "ok" or an error's code.
type RequestStats struct {
	Method, Outcome string
	Count           int64
}

// QueueStats is what waits in the sink, in flight included, and the most that ever did.
type QueueStats struct{ Frames, Bytes, MaxFrames, MaxBytes int64 }

// WrittenStats counts what was handed to stdout; a batch is one write call.
type WrittenStats struct{ Frames, Bytes, Batches int64 }

// StallStats counts pauses longer than output.stall_threshold and their time.
type StallStats struct {
	Count int64
	Time  time.Duration
}

// StageStats counts the elements that a stage handled and the time spent in it.
type StageStats struct {
	Name  string
	Count int64
	Busy  time.Duration
}

// ChatStats is one chat that has not ended.
type ChatStats struct {
	ID     ID
	State  string
	Since  time.Duration
	Tokens int64
}
