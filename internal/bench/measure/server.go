package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"sluice/internal/bench/load"
)

// streams returns the load server's account of all streams that it ever sent, once there are at
// least count of them and none is being sent. A server of the user's own has none.
func (s *Session) streams(ctx context.Context, count int) ([]load.StreamStats, error) {
	if s.ownServer() {
		return nil, nil
	}
	var streams []load.StreamStats
	if err := s.get(ctx, "/bench/streams?count="+strconv.Itoa(count), &streams); err != nil {
		return nil, err
	}
	if len(streams) < count {
		return nil, fmt.Errorf("the load server ended after %d of %d streams", len(streams), count)
	}
	return streams, nil
}

// sent returns how many tokens the load server has ever sent.
func (s *Session) sent(ctx context.Context) (tokens int64, err error) {
	if s.ownServer() {
		return 0, nil
	}
	err = s.get(ctx, "/bench/sent", &tokens)
	return tokens, err
}

func (s *Session) get(ctx context.Context, path string, answer any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return json.NewDecoder(response.Body).Decode(answer)
}

// bookkeeping is how long the load server may take to account for streams whose end has arrived.
const bookkeeping = 10 * time.Second

// sentStreams returns the statistics of the streams after the earlier ones, by their names. Every
// stream that isn't complete, or shorter or longer than what was asked for, is an error.
func (s *Session) sentStreams(ctx context.Context, earlier int, l Load) (map[string]load.StreamStats, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, bookkeeping, errors.New("the load server was asked for too few streams"))
	defer cancel()
	all, err := s.streams(ctx, earlier+l.Streams)
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil || s.ownServer() {
		return nil, err
	}
	byName := map[string]load.StreamStats{}
	for _, stream := range all[earlier:] {
		if !stream.Complete || l.During == 0 && stream.Tokens != l.Tokens {
			return nil, fmt.Errorf("%d of %d tokens were sent, all of it taken: %v", stream.Tokens, l.Tokens, stream.Complete)
		}
		byName[stream.Name] = stream
	}
	if len(byName) != l.Streams {
		return nil, fmt.Errorf("%d streams were asked of the load server for %d chats", len(all)-earlier, l.Streams)
	}
	return byName, nil
}
