package load

import (
	"crypto/rand"
	"math"
	"net"
	"runtime"
	"sync/atomic"
	"time"

	"sluice/internal/bench/clock"
	"sluice/internal/bench/tokens"
)

// blockTokens is how many tokens an unpaced write holds: about 60 KiB of frames.
const blockTokens = 256

const streamHeader = "HTTP/1.1 200 OK\r\nServer: llama.cpp\r\nContent-Type: text/event-stream\r\n" +
	"Transfer-Encoding: chunked\r\n"

func newIdentity() identity {
	return identity{id: "chatcmpl-" + (rand.Text() + rand.Text())[:32], model: "bigram"}
}

// streamer writes the answer to one chat request. It belongs to the goroutine of its connection.
type streamer struct {
	conn    net.Conn
	request request
	identity
	stats *StreamStats
	sent  *atomic.Int64 // tokens, of all streams
}

func (s *streamer) run() error {
	if err := s.open(); err != nil {
		return err
	}
	send := s.unpaced
	if s.request.rate > 0 {
		send = s.paced
	}
	if err := send(); err != nil {
		return err
	}
	return s.finish()
}

func (s *streamer) open() error {
	header := streamHeader
	if s.request.closes {
		header += "Connection: close\r\n"
	}
	if _, err := s.conn.Write([]byte(header + "\r\n")); err != nil {
		return err
	}
	if s.request.progress {
		for _, processed := range []int{0, 25} {
			if err := s.writeFrame(roleChoice, promptProgress(processed)); err != nil {
				return err
			}
		}
	}
	return s.writeFrame(roleChoice, "")
}

// unpaced sends the tokens as fast as they are read, one block a write.
func (s *streamer) unpaced() error {
	full := newBlock(s.identity, min(blockTokens, s.request.count), tokens.PlainWidth, time.Now().Unix())
	end := s.end(clock.Now())
	for first := 0; first < s.request.count && clock.Now() < end; first += full.count {
		b := full
		if left := s.request.count - first; left < full.count {
			b = newBlock(s.identity, left, tokens.PlainWidth, full.created)
		}
		b.date(time.Now().Unix())
		b.number(first)
		if err := s.write(b); err != nil {
			return err
		}
	}
	return nil
}

// end returns when a stream that starts now stops, even if not all tokens were sent.
func (s *streamer) end(now int64) int64 {
	if s.request.during == 0 {
		return math.MaxInt64
	}
	return now + int64(s.request.during)
}

// preciseRate is the lowest rate, in tokens per second, at which a stream gets a thread of its own
// to keep it. Below that the millisecond by which Go's timers are late doesn't matter: tokens carry
// the time when they were really sent, and hundreds of streams are cheap.
const preciseRate = 200

// paced sends one token a write at the asked rate. A token whose time has passed is sent at once.
func (s *streamer) paced() error {
	if s.request.rate < preciseRate {
		return s.sendPaced(func(at int64) { time.Sleep(time.Duration(at - clock.Now())) })
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := clock.PreciseSleeps(); err != nil {
		return err
	}
	return s.sendPaced(clock.SleepUntil)
}

func (s *streamer) sendPaced(sleepUntil func(int64)) error {
	b := newBlock(s.identity, 1, tokens.TimedWidth, time.Now().Unix())
	start := clock.Now()
	end := s.end(start)
	for sequence := range s.request.count {
		due := start + int64(float64(sequence)*1e9/s.request.rate)
		if due >= end {
			break
		}
		sleepUntil(due)
		b.date(time.Now().Unix())
		tokens.PutTimed(b.text(0), sequence, clock.Now())
		if err := s.write(b); err != nil {
			return err
		}
	}
	return nil
}

func (s *streamer) write(b *block) error {
	if s.stats.FirstAt == 0 {
		s.stats.FirstAt = clock.Now()
	}
	if _, err := s.conn.Write(b.bytes); err != nil {
		return err
	}
	s.stats.Tokens += b.count
	s.sent.Add(int64(b.count))
	s.stats.LastAt = clock.Now()
	return nil
}

// finish sends the finish chunk, the usage chunk where it was asked for, and the end of the stream.
func (s *streamer) finish() error {
	var err error
	if s.request.usage {
		err = s.writeFrame(finishChoice, "")
		if err == nil {
			err = s.writeFrame("", usage(s.stats.Tokens)+timings(s.stats.Tokens))
		}
	} else {
		err = s.writeFrame(finishChoice, timings(s.stats.Tokens))
	}
	if err != nil {
		return err
	}
	done := append(appendChunkSize(nil, len(doneFrame)), doneFrame+"\r\n0\r\n\r\n"...)
	_, err = s.conn.Write(done)
	return err
}

func (s *streamer) writeFrame(choices, more string) error {
	frame := s.appendChunk(nil, choices, time.Now().Unix(), more)
	chunk := append(appendChunkSize(nil, len(frame)), frame...)
	_, err := s.conn.Write(append(chunk, "\r\n"...))
	return err
}
