// Package keys knows what terminals send: it turns keys, the mouse, the focus and pastes into bytes for a program, and the
// bytes of a person's terminal into events.
//
// # Out
//
// [AppendKey], [AppendMouse], [AppendFocus] and [Paste] are pure functions of the modes a program has set ([vt.Modes]).
// The forms are those of xterm's ctlseqs (PC-style function keys, modifyOtherKeys, mouse tracking) and of the kitty
// keyboard protocol; where a mode has no form for an event, nothing is appended. [Parse] reads the names of keys that
// the command line has ("Enter", "C-c", "S-F5").
//
// # In
//
// [Decoder] finds the events in what a terminal sends, whatever its reads cut: the same bytes give the same events. It
// keeps no bytes; the caller keeps the begin of a sequence and decides when to wait no longer for the rest. What is
// waited for is shorter than [MaxSequence]. Of the mouse it knows the forms of bytes, of SGR and of urxvt.
//
// Decoding what was encoded gives the event back, as far as the form can carry it; the tests say for each where it
// cannot. Package keys has no I/O, clock or lock; values belong to one goroutine at a time, functions to any.
package keys
