package encode

import "sluice/internal/wire"

// stats appends the result of the method stats; its members are those of the product's contract.
func (p NDJSON) stats(dst []byte, r *wire.Stats) []byte {
	dst = append(dst, `{"uptime_ms":`...)
	dst = milliseconds(dst, r.Uptime)
	dst = append(dst, `,"queue":{"frames":`...)
	dst = wire.AppendInt(dst, r.Queue.Frames)
	dst = append(wire.AppendInt(append(dst, `,"bytes":`...), r.Queue.Bytes), `,"max_frames":`...)
	dst = append(wire.AppendInt(dst, r.Queue.MaxFrames), `,"max_bytes":`...)
	dst = append(wire.AppendInt(dst, r.Queue.MaxBytes), `},"written":{"frames":`...)
	dst = append(wire.AppendInt(dst, r.Written.Frames), `,"bytes":`...)
	dst = append(wire.AppendInt(dst, r.Written.Bytes), `,"batches":`...)
	dst = append(wire.AppendInt(dst, r.Written.Batches), `},"merged":`...)
	dst = append(wire.AppendInt(dst, r.Merged), `,"dropped":`...)
	dst = append(wire.AppendInt(dst, r.Dropped), `,"stalls":{"reader":`...)
	dst = append(stall(dst, r.StallReader), `,"upstream":`...)
	dst = append(stall(dst, r.StallUpstream), `,"engine":`...)
	dst = append(stall(dst, r.StallEngine), `},"stages":`...)
	dst = append(p.stages(dst, r.Stages), `,"chats":`...)
	return append(p.chats(dst, r.Chats), '}')
}

func stall(dst []byte, s wire.StallStats) []byte {
	dst = append(wire.AppendInt(append(dst, `{"count":`...), s.Count), `,"ms":`...)
	return append(milliseconds(dst, s.Time), '}')
}

func (p NDJSON) stages(dst []byte, list []wire.StageStats) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.AppendString(append(dst, `{"name":`...), s.Name, p.ASCII)
		dst = append(wire.AppendInt(append(dst, `,"count":`...), s.Count), `,"busy_ms":`...)
		dst = append(milliseconds(dst, s.Busy), '}')
	}
	return append(dst, ']')
}

func (p NDJSON) chats(dst []byte, list []wire.ChatStats) []byte {
	dst = append(dst, '[')
	for i, c := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.AppendID(append(dst, `{"id":`...), c.ID, p.ASCII)
		dst = wire.AppendString(append(dst, `,"state":`...), c.State, p.ASCII)
		dst = append(milliseconds(append(dst, `,"since_ms":`...), c.Since), `,"tokens":`...)
		dst = append(wire.AppendInt(dst, c.Tokens), '}')
	}
	return append(dst, ']')
}
