package client

import (
	"bytes"
	"unicode/utf8"
)

// DefaultLeader is Ctrl-\.
const DefaultLeader byte = 0x1c

// action is what the user asked of the client itself.
type action uint8

const (
	noAction   action = iota
	actPending        // the leader came: its key is awaited
	actDetach
	actSuspend
	actHelp
	actSent    // the leader came twice: the second one goes to the program
	actCancel  // Escape or a paste instead of a key
	actUnknown // a key without meaning, which is dropped
)

// keys finds the leader key in what the terminal sends. Everything else passes unchanged.
//
// The leader counts only where it was typed: not inside a bracketed paste, however its markers are cut by reads. It comes
// as its control byte, or as a kitty or modifyOtherKeys sequence. A lone Escape must never wait for more, so a sequence
// that is cut by a read passes in pieces and is no leader; once the terminal has shown that it encodes its Escape key
// (the caller knows that the program has asked for that now), a cut sequence waits for its rest instead.
type keys struct {
	leader  byte
	pending bool // the leader came
	paste   bool // inside a bracketed paste
	encodes bool // the terminal has sent a key as CSI u

	// tail is the begin of a sequence whose bytes passed already.
	tail  [maxSequence]byte
	tailN int
	// raw bytes of an X10 mouse report are still to come: they are no keys.
	raw int
}

// step looks at the begin of p, which is not empty. The caller passes on p[:pass], leaves out the next drop bytes, does
// act, and goes on with the rest. When all three are zero, p is the begin of a sequence of less than maxSequence bytes: the caller
// comes again with it and what is read next. hold: the program has asked for keys in which Escape is encoded.
func (k *keys) step(p []byte, hold bool) (pass, drop int, act action) {
	if k.raw > 0 {
		pass = min(k.raw, len(p))
		k.raw -= pass
		return pass, 0, noAction
	}
	if k.tailN > 0 {
		if pass = k.rejoin(p); pass > 0 {
			return pass, 0, noAction
		}
	}
	if k.pending {
		return k.key(p)
	}
	i := k.skip(p)
	for i < len(p) && p[i] == esc {
		n := sequence(p[i:])
		if n == 0 {
			return k.cut(p, i, hold && k.encodes)
		}
		if k.sees(p[i : i+n]) {
			k.pending = true
			return i, n, actPending
		}
		i += n
		if k.raw > 0 {
			return i, 0, noAction
		}
		i += k.skip(p[i:])
	}
	if i < len(p) {
		k.pending = true
		return i, 1, actPending
	}
	return len(p), 0, noAction
}

// skip returns the index of the first byte that matters: Escape, or the leader outside a paste.
func (k *keys) skip(p []byte) int {
	if i := bytes.IndexByte(p, esc); i >= 0 {
		p = p[:i]
	}
	if !k.paste {
		if i := bytes.IndexByte(p, k.leader); i >= 0 {
			return i
		}
	}
	return len(p)
}

// cut handles a sequence at p[i:] whose rest was not read yet.
func (k *keys) cut(p []byte, i int, hold bool) (pass, drop int, act action) {
	if hold {
		return i, 0, noAction
	}
	k.tailN = copy(k.tail[:], p[i:])
	return len(p), 0, noAction
}

// rejoin completes the sequence whose begin passed already, and returns how much of p belongs to it.
func (k *keys) rejoin(p []byte) int {
	before := k.tailN
	k.tailN += copy(k.tail[before:], p)
	n := sequence(k.tail[:k.tailN])
	if n == 0 {
		return k.tailN - before
	}
	k.tailN = 0
	k.sees(k.tail[:n])
	return n - before
}

// sees follows a whole sequence outside of a pending leader, and reports whether it is the leader.
func (k *keys) sees(s []byte) bool {
	switch c := parse(s); {
	case c.isPasteEnd():
		k.paste = false
	case k.paste:
	case c.isPasteBegin():
		k.paste = true
	case c.isMouseX10():
		k.raw = 3
	case c.isKey():
		k.encodes = k.encodes || c.final == 'u'
		return c.is(k.leader) && c.event == pressed
	}
	return false
}

// key handles what comes after the leader.
func (k *keys) key(p []byte) (pass, drop int, act action) {
	switch c := p[0]; {
	case c == k.leader:
		return 1, 0, k.done(actSent)
	case c == esc && len(p) == 1:
		return 0, 1, k.done(actCancel)
	case c == esc:
		return k.sequence(p)
	case !utf8.FullRune(p):
		return 0, 0, noAction
	}
	r, n := utf8.DecodeRune(p)
	return 0, n, k.done(meaning(r))
}

func (k *keys) done(act action) action {
	k.pending = false
	return act
}

// sequence handles an escape sequence after the leader. What is no key press passes, and the leader goes on waiting.
func (k *keys) sequence(p []byte) (pass, drop int, act action) {
	n := sequence(p)
	if n == 0 {
		return 0, 0, noAction
	}
	c := parse(p[:n])
	switch {
	case n == 1: // Escape, then something else
		return 0, 1, k.done(actCancel)
	case c.isPasteBegin():
		k.paste = true
		return n, 0, k.done(actCancel)
	case c.isMouseX10():
		k.raw = 3
		return n, 0, noAction
	case c.isReport():
		return n, 0, noAction
	case c.is(k.leader) && c.event != pressed:
		return 0, n, noAction
	case c.event == released, c.isModifier():
		return n, 0, noAction
	case c.is(k.leader):
		return n, 0, k.done(actSent)
	}
	return 0, n, k.done(meaning(c.rune()))
}

// meaning is the key table.
func meaning(r rune) action {
	switch r {
	case 'd':
		return actDetach
	case 'z':
		return actSuspend
	case '?':
		return actHelp
	}
	return actUnknown
}
