package observe

import (
	"net"
	"strings"
	"testing"
)

func TestListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cases := []struct {
		addr, token string
		words       []string // of the error; none when it listens
	}{
		{"127.0.0.1:0", "", nil},
		{"localhost:0", "", nil},
		{"127.0.0.9:0", "", nil},
		{"127.0.0.1:0", secret, nil},
		{"0.0.0.0:0", secret, nil},
		{":0", secret, nil},
		{"0.0.0.0:0", "", []string{"debug.token", "127.0.0.1"}},
		{":0", "", []string{"debug.token"}},
		{"[::]:0", "", []string{"debug.token"}},
		{"192.0.2.1:0", "", []string{"debug.token"}},
		{"192.0.2.1:0", secret, []string{"192.0.2.1", "127.0.0.1:0"}},
		{"127.0.0.1:99999", "", []string{"99999", "127.0.0.1:0"}},
		{"127.0.0.1", "", []string{"127.0.0.1:0"}},
		{taken.Addr().String(), "", []string{"in use", "port 0"}},
	}
	for _, c := range cases {
		listener, err := Listen(c.addr, c.token)
		if err == nil {
			listener.Close()
		}
		if (err == nil) != (c.words == nil) {
			t.Errorf("%s: got %v", c.addr, err)
			continue
		}
		for _, word := range c.words {
			if !strings.Contains(err.Error(), word) || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: got %v", c.addr, err)
			}
		}
	}
}
