//go:build !linux

package quic

// Conceal would keep this process's memory from core files; this system has no way to do that for one process alone.
func Conceal() {}
