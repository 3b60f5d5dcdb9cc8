package main

import (
	"encoding/binary"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// From linux/sock_diag.h and linux/unix_diag.h; see sock_diag(7).
const (
	sockDiagByFamily  = 20
	unixDiagShowPeer  = 0x4
	unixDiagShowQueue = 0x10
	unixDiagPeer      = 2 // u32, the peer's inode
	unixDiagQueue     = 4 // u32 bytes to read, u32 bytes to write
)

var errNoAnswer = errors.New("the kernel told nothing about the socket")

// unreadAtPeer asks the kernel how many bytes the other end of a Unix socket has not read. SIOCOUTQ
// counts a buffer of up to 48 KiB until its last byte is read, so it does not show a reader that
// takes a few bytes now and then.
func unreadAtPeer(inode uint32) (int, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	peer, err := askUnixSocket(fd, inode, unixDiagShowPeer, unixDiagPeer)
	if err != nil {
		return 0, err
	}
	unread, err := askUnixSocket(fd, peer, unixDiagShowQueue, unixDiagQueue)
	return int(unread), err
}

// askUnixSocket returns the first number of one attribute of the socket with an inode.
func askUnixSocket(fd int, inode, show uint32, attribute uint16) (uint32, error) {
	if err := unix.Sendto(fd, unixDiagRequest(inode, show), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, err
	}
	answer := make([]byte, os.Getpagesize())
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return 0, err
	}
	return findAttribute(answer[:n], attribute)
}

// unixDiagRequest encodes a nlmsghdr and a unix_diag_req.
func unixDiagRequest(inode, show uint32) []byte {
	const size = unix.NLMSG_HDRLEN + 24
	order := binary.NativeEndian
	request := order.AppendUint32(make([]byte, 0, size), size)
	request = order.AppendUint16(request, sockDiagByFamily)
	request = order.AppendUint16(request, unix.NLM_F_REQUEST)
	request = append(request, make([]byte, 8)...)     // sequence and port: one question at a time
	request = append(request, unix.AF_UNIX, 0, 0, 0)  // family, protocol, padding
	request = order.AppendUint32(request, ^uint32(0)) // any state
	request = order.AppendUint32(request, inode)
	request = order.AppendUint32(request, show)
	return order.AppendUint64(request, ^uint64(0)) // any cookie
}

// findAttribute looks through the rtattrs behind a nlmsghdr and a unix_diag_msg.
func findAttribute(answer []byte, attribute uint16) (uint32, error) {
	const header = unix.NLMSG_HDRLEN + 16
	order := binary.NativeEndian
	if len(answer) < header || order.Uint16(answer[4:]) != sockDiagByFamily {
		return 0, errNoAnswer
	}
	for rest := answer[header:]; len(rest) >= unix.SizeofRtAttr; {
		size := int(order.Uint16(rest))
		if size < unix.SizeofRtAttr || size > len(rest) {
			break
		}
		if order.Uint16(rest[2:]) == attribute && size >= unix.SizeofRtAttr+4 {
			return order.Uint32(rest[unix.SizeofRtAttr:]), nil
		}
		rest = rest[min(len(rest), (size+3)&^3):]
	}
	return 0, errNoAnswer
}
