package observe

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// addressInUse is WSAEADDRINUSE of Windows (winsock2.h); other systems have EADDRINUSE.
const addressInUse = syscall.Errno(10048)

// Listen opens the endpoint's address, host:port, where port 0 is any free one. Without a token only
// this machine may reach it. The error is one sentence that says what to do.
func Listen(addr, token string) (net.Listener, error) {
	resolved, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%q is no address of this machine; use 127.0.0.1:0 for any free port", addr)
	}
	if token == "" && !resolved.IP.IsLoopback() {
		return nil, fmt.Errorf("%q can be reached from other machines; set debug.token too, or use 127.0.0.1", addr)
	}
	listener, err := net.ListenTCP("tcp", resolved)
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, addressInUse):
		return nil, fmt.Errorf("%q is in use, maybe by another engine; give each its own port, or use port 0 for any free one", addr)
	case err != nil:
		return nil, fmt.Errorf("%q can't be listened on (%v); use 127.0.0.1:0 for any free port", addr, cause(err))
	}
	return listener, nil
}

// cause is the system's own word for what went wrong.
func cause(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}
