package guard

import "golang.org/x/sys/unix"

func processor() string {
	brand, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return unknownProcessor
	}
	return brand
}
