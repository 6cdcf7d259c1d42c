package stack

import (
	"runtime"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A stack that is full moves: the address of what is on it tells.
func TestReservedRoomIsThere(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection gives room back
	runtime.GC()
	require.True(t, moves(func() {}), "the calls of this test need more than a goroutine begins with")
	require.False(t, moves(Reserve))
}

// moves reports whether a new goroutine's stack moves for some calls after prepare.
func moves(prepare func()) bool {
	moved := make(chan bool)
	go func() {
		prepare()
		var here byte
		before := uintptr(unsafe.Pointer(&here))
		deep(room / 1024)
		moved <- before != uintptr(unsafe.Pointer(&here))
	}()
	return <-moved
}

// deep makes calls that take at least one KiB each, n of them.
//
//go:noinline
func deep(n int) byte {
	var taken [900]byte
	if n > 1 {
		taken[n] = deep(n - 1)
	}
	return taken[n] + taken[0]
}
