//go:build !linux

package host

func readUsage(int) (Usage, error) { return Usage{}, nil }
