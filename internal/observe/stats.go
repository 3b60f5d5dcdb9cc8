package observe

import (
	"encoding/json"
	"net/http"
	"os"
	"time"

	"sluice/internal/wire"
)

// extra is what /stats tells besides the result of the method stats.
type extra struct {
	RecentStalls []recentStall `json:"recent_stalls"`
	Bounds       Bounds        `json:"bounds"`
	PID          int           `json:"pid"`
	Version      string        `json:"version"`
}

type recentStall struct {
	Cause      wire.Cause      `json:"cause"`
	MS         int64           `json:"ms"`
	At         string          `json:"at"` // RFC 3339, when it ended
	Request    json.RawMessage `json:"request"`
	QueueBytes int64           `json:"queue_bytes"`
}

func (s *Server) stats(w http.ResponseWriter, _ *http.Request) {
	more, err := json.Marshal(extra{
		RecentStalls: recentStalls(s.options.Stalls.Recent()),
		Bounds:       s.options.Bounds,
		PID:          os.Getpid(),
		Version:      s.options.Version,
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	line := s.options.Encode(nil, s.options.Stats())
	line = append(line[:len(line)-1], ',') // in place of the object's last brace
	line = append(append(line, more[1:]...), '\n')
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(line)
}

func recentStalls(stalls []wire.Stall) []recentStall {
	list := make([]recentStall, 0, len(stalls))
	for _, stall := range stalls {
		list = append(list, recentStall{
			Cause:      stall.Cause,
			MS:         stall.Took.Milliseconds(),
			At:         stall.Ended.Format(time.RFC3339Nano),
			Request:    wire.AppendID(nil, stall.Request, false),
			QueueBytes: stall.Bytes,
		})
	}
	return list
}
