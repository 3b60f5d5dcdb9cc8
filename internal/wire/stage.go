package wire

import "context"

// Stage is how neighbouring operators of ours fuse: the upstream one calls the downstream one
// directly, in its own goroutine, where go-streams would hand over by channel. Every Flow and Sink
// of ours is a Stage as well as a go-streams operator.
//
// One goroutine at a time calls a Stage. Whoever pushes calls Done exactly once, last.
type Stage interface {
	// Push handles one element, a pointer to a batch, which the caller may reuse once Push returned.
	// An error means that the stage wants no more; the caller stops and passes it to Done.
	Push(ctx context.Context, element any) error
	// Done says that nothing follows. cause is nil at the ordinary end of the stream.
	Done(cause error)
}

// Inlet is go-streams' Inlet, declared here because this package imports no third party but gjson.
type Inlet interface{ In() chan<- any }

// Downstream returns the Stage through which to reach inlet: itself where it is one of ours, else
// one that sends clones over inlet's channel and closes it when done.
func Downstream(inlet Inlet) Stage {
	if stage, ok := inlet.(Stage); ok {
		return stage
	}
	return channelStage{inlet.In()}
}

// ToChannel returns a Stage that sends a clone of every batch to out and closes out when done.
func ToChannel(out chan<- any) Stage { return channelStage{out} }

type channelStage struct{ out chan<- any }

func (c channelStage) Push(ctx context.Context, element any) error {
	if batch, ok := element.(Batch); ok {
		element = batch.Clone()
	}
	select {
	case c.out <- element:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c channelStage) Done(error) { close(c.out) }

// FromChannel pushes everything from in to stage until in is closed. After an error it goes on
// draining in, so that the upstream operator, which can't be told, is never blocked.
func FromChannel(ctx context.Context, in <-chan any, stage Stage) {
	var cause error
	for element := range in {
		if cause == nil {
			cause = stage.Push(ctx, element)
		}
	}
	stage.Done(cause)
}
