package verify

import (
	"bytes"
	"fmt"

	"github.com/tidwall/gjson"
)

// Replies counts the results of numbered requests, such as pings, and keeps the last one.
//
// It is fed by one goroutine. Done and Last may be used by others, Last after Done is closed.
type Replies struct {
	wanted int
	echo   bool // the requests themselves come back
	count  int
	seen   []bool
	last   string
	at     int64
	err    error
	done   chan struct{}
}

// NewReplies expects one result for each of the ids 1 to count.
func NewReplies(count int) *Replies {
	return &Replies{wanted: count, seen: make([]bool, count+1), done: make(chan struct{})}
}

// NewEchoes expects the requests with the ids 1 to count to come back as they are.
func NewEchoes(count int) *Replies {
	r := NewReplies(count)
	r.echo = true
	return r
}

// Done is closed when all results are there or a fault made waiting pointless.
func (r *Replies) Done() <-chan struct{} { return r.done }

// Last returns the last result, the clock.Now time of its receipt, and what was wrong, if anything.
func (r *Replies) Last() (line string, at int64, err error) { return r.last, r.at, r.err }

// ReadLines takes whole lines, each with its line end, received at the given time.
func (r *Replies) ReadLines(block []byte, at int64) {
	for line := range bytes.Lines(block) {
		if r.count == r.wanted || r.err != nil {
			return
		}
		r.take(line, at)
	}
}

func (r *Replies) take(line []byte, at int64) {
	id := gjson.GetBytes(line, "id").Int()
	switch {
	case !gjson.ValidBytes(line):
		r.fail(fmt.Errorf("not JSON: %.120q", line))
	case !r.echo && gjson.GetBytes(line, "type").Str != "result":
		r.fail(fmt.Errorf("not a result: %.300q", line))
	case id < 1 || id > int64(r.wanted) || r.seen[id]:
		r.fail(fmt.Errorf("a result that nothing asked for: %.120q", line))
	default:
		r.seen[id] = true
		r.count++
		if r.count == r.wanted {
			r.last, r.at = string(line), at
			close(r.done)
		}
	}
}

func (r *Replies) fail(err error) {
	r.err = err
	close(r.done)
}
