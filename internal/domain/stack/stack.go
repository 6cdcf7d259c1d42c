package stack

// room is what the calls of a command or of a conversation take: up to 32 KiB, which is the smallest stack with room to spare.
const room = 24 << 10

// Of the packages that import nothing this is initialised early: the main goroutine has room for what others do at their
// initialisation, too.
func init() { Reserve() }

// Reserve gives the calling goroutine room for its calls; what it has already is the less to move, the sooner it calls.
//
//go:noinline
func Reserve() {
	var calls [room]byte
	touch(&calls)
}

// touch keeps the room from being optimised away.
//
//go:noinline
func touch(calls *[room]byte) { calls[0] = 1 }
