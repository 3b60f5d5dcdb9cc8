//go:build unix

package process

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepInherited keeps the descriptors beyond the standard ones that whoever started us left open from
// our children: among them may be another copy of our stdout, or a lock that ends with its last holder.
// What Go opens itself it never hands on.
func keepInherited() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd) // the descriptor of the listing is closed already: no harm
		}
	}
}
