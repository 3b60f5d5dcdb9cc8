// Package pipeline is the graph: it joins sources, stages and the sink, on one screen in
// pipeline.go, and ends what it joined.
//
// Concurrency law: operators of ours fuse, so one goroutine runs stdin → parse → validate → route →
// execute, one goroutine per chat runs source → transform → encode → sink, and one more is the
// sink's writer. [Pipeline.Run] owns the first and the last and waits for all of them.
package pipeline
