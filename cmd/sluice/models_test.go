package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// meeting is a server whose end takes until the end of all others has begun.
type meeting struct {
	begun chan<- struct{}
	all   <-chan struct{}
}

func (m meeting) Close(context.Context) error {
	m.begun <- struct{}{}
	<-m.all
	return errors.ErrUnsupported
}

func TestServersAreClosedAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 3
		begun, all := make(chan struct{}), make(chan struct{})
		var servers []closer
		for range count {
			servers = append(servers, meeting{begun, all})
		}
		go func() {
			for range count {
				<-begun
			}
			close(all)
		}()
		if err := errors.Join(closeAll(t.Context(), servers)...); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("what failed was not told: %v", err)
		}
	})
}
