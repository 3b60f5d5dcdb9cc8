//go:build !unix

package planner

const openFlags = 0
