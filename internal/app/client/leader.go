package client

import (
	"bytes"
	"slices"

	"github.com/vev-term/vev/internal/domain/keys"
)

const esc = 0x1b

// DefaultLeader is Ctrl-\.
const DefaultLeader byte = 0x1c

var pasteBegin = []byte("\x1b[200~")

// action is what the user asked of the client itself.
type action uint8

const (
	noAction   action = iota
	actPending        // the leader came: its key is awaited
	actDetach
	actSuspend
	actHelp
	actScroll
	actSent    // the leader came twice: the second one goes to the program
	actCancel  // Escape or a paste instead of a key
	actUnknown // a key without meaning, which is dropped
	actMouse   // the mouse did what is in event
	actFocus   // the terminal got or lost the focus, as event says
	actKey     // the key of event came in its legacy form, which the program is not to get
	actPaste   // a part of a paste came: its begin, text or end, as event says
)

// typing finds in what the terminal sends what is the client's: the leader key, the mouse, pastes and the focus. All else
// passes unchanged, but for keys of a terminal without the kitty keyboard protocol where the program has set it: the daemon
// answered that it is there.
//
// The leader counts only where it was typed: not inside a bracketed paste. It comes as its control byte, or as a kitty or
// modifyOtherKeys sequence. A lone Escape must never wait for more, so a sequence that is cut by a read passes in pieces
// and is no leader; once the terminal has shown that it encodes its Escape key (the caller knows that the program has
// asked for that now), a cut sequence waits for its rest instead. So does what was cut by a full buffer, a cut report of
// the mouse, which no key begins like, the begin of a paste from its third byte on, which nobody types within one read, and
// the end of a paste, which always comes.
type typing struct {
	leader  byte
	pending bool  // the leader came
	encodes bool  // the terminal has sent a key as CSI u
	mouse   bool  // the terminal was asked to report the mouse
	full    bool  // the read filled its buffer: more is there
	flags   uint8 // of the kitty keyboard protocol that the program has set
	decoder keys.Decoder

	// tail is the begin of a sequence whose bytes passed already.
	tail  [keys.MaxSequence]byte
	tailN int

	event  keys.Event // of actMouse, actFocus, actKey and actPaste
	passed int        // how many bytes of its sequence passed before it was known for what it is
}

// step looks at the begin of p, which is not empty. The caller passes on p[:pass], leaves out the next drop bytes, does
// act, and goes on with the rest. When all three are zero, p is the begin of a sequence of less than keys.MaxSequence
// bytes: the caller comes again with it and what is read next. hold: the program has asked for keys in which Escape is
// encoded.
func (k *typing) step(p []byte, hold bool) (pass, drop int, act action) {
	if k.tailN > 0 {
		if pass, drop, act, done := k.rejoin(p); done {
			return pass, drop, act
		}
	}
	if k.pending {
		return k.key(p)
	}
	i := k.skip(p)
	for i < len(p) && (p[i] == esc || k.decoder.Pasting() || k.translates(p[i])) {
		e, n := k.next(p[i:])
		switch {
		case n == 0:
			return k.cut(p, i, hold && k.encodes)
		case e.Kind == keys.MouseEvent:
			k.event, k.passed = e, 0
			return i, n, actMouse
		case isFocus(e):
			k.event = e
			return i, n, actFocus
		case isPaste(e):
			k.event, k.passed = e, 0
			return i, n, actPaste
		case k.isLeader(e) && e.Action == keys.Press:
			k.pending = true
			return i, n, actPending
		case k.isLegacy(e, p[i:i+n]):
			k.event = e
			return i, n, actKey
		}
		i += n
		i += k.skip(p[i:])
	}
	if i < len(p) {
		k.pending = true
		return i, 1, actPending
	}
	return len(p), 0, noAction
}

// next decodes an event. Escape before another control is a key of its own, so that a leader behind it is seen.
func (k *typing) next(p []byte) (e keys.Event, n int) {
	if !k.decoder.Pasting() && p[0] == esc && len(p) > 1 && (p[1] < 0x20 || p[1] == 0x7f) {
		return keys.Event{Kind: keys.KeyEvent, Key: keys.Escape}, 1
	}
	e, n = k.decoder.Next(p, true)
	if e.Kind == keys.KeyEvent && p[n-1] == 'u' && n > 2 {
		k.encodes = true
	}
	return e, n
}

// isFocus reports whether the terminal told about its focus.
func isFocus(e keys.Event) bool { return e.Kind == keys.FocusIn || e.Kind == keys.FocusOut }

// isPaste reports whether the event is a part of a paste.
func isPaste(e keys.Event) bool {
	return e.Kind == keys.PasteBegin || e.Kind == keys.PasteText || e.Kind == keys.PasteEnd
}

// isLeader reports whether the event is of the key that sends the leader's byte.
func (k *typing) isLeader(e keys.Event) bool {
	code := keys.Key(k.leader | 0x40)
	if code >= 'A' && code <= 'Z' {
		code += 'a' - 'A'
	}
	e.Action = keys.Press
	return e.Is(code, keys.Ctrl)
}

// skip returns the index of the first byte that matters: Escape, or the leader; in a paste all do.
func (k *typing) skip(p []byte) int {
	if k.decoder.Pasting() {
		return 0
	}
	if k.flags != 0 && !k.encodes {
		if i := slices.IndexFunc(p, k.translates); i >= 0 {
			p = p[:i]
		}
	}
	if i := bytes.IndexByte(p, esc); i >= 0 {
		p = p[:i]
	}
	if i := bytes.IndexByte(p, k.leader); i >= 0 {
		return i
	}
	return len(p)
}

// translates reports whether b begins a key in a form that a terminal with the program's kitty flags does not use, which
// therefore has not got the protocol. Backspace and the ends of lines it may send all the same.
func (k *typing) translates(b byte) bool {
	switch {
	case k.encodes || k.flags&(keys.KittyDisambiguate|keys.KittyAllKeys) == 0:
		return false
	case k.flags&keys.KittyAllKeys != 0:
		return true
	}
	return b < 0x20 && b != '\b' && b != '\t' && b != '\n' && b != '\r'
}

// isLegacy reports whether the event came in such a form. A lone Escape passes as it is, as it may begin anything.
func (k *typing) isLegacy(e keys.Event, raw []byte) bool {
	if e.Kind != keys.KeyEvent || !k.translates(raw[0]) {
		return false
	}
	return raw[0] != esc || len(raw) > 1 && raw[1] != '[' && raw[1] != 'O'
}

// cut handles a sequence at p[i:] whose rest was not read yet.
func (k *typing) cut(p []byte, i int, hold bool) (pass, drop int, act action) {
	if hold || k.full || k.decoder.Pasting() || k.waits(p[i:]) {
		return i, 0, noAction
	}
	k.tailN = copy(k.tail[:], p[i:])
	return len(p), 0, noAction
}

// waits reports whether p, which is cut, begins like a report of the mouse, where such are to be expected, or a paste.
func (k *typing) waits(p []byte) bool {
	if len(p) < 3 || p[1] != '[' {
		return false
	}
	return k.mouse && (p[2] == '<' || p[2] == 'M') || bytes.HasPrefix(pasteBegin, p)
}

// rejoin completes the sequence whose begin passed already. done is false when nothing of p belongs to it.
func (k *typing) rejoin(p []byte) (pass, drop int, act action, done bool) {
	before := k.tailN
	n := before + copy(k.tail[before:], p)
	whole := k.tail[:n]
	e, n := k.next(whole)
	switch {
	case n == 0 && k.waits(whole):
		return 0, 0, noAction, true
	case n == 0:
		k.tailN = len(whole)
		return len(whole) - before, 0, noAction, true
	}
	k.tailN = 0
	switch {
	case e.Kind == keys.MouseEvent:
		k.event, k.passed = e, before
		return 0, n - before, actMouse, true
	case e.Kind == keys.PasteBegin:
		k.event, k.passed = e, before
		return 0, n - before, actPaste, true
	case isFocus(e): // a begin that passed is a key of its own without its end
		k.event = e
		return n - before, 0, actFocus, true
	}
	return n - before, 0, noAction, n > before
}

// key handles what comes after the leader. What is no press of a key passes, and the leader goes on waiting.
func (k *typing) key(p []byte) (pass, drop int, act action) {
	switch {
	case p[0] == k.leader:
		return 1, 0, k.done(actSent)
	case p[0] == esc && (len(p) == 1 || p[1] < 0x20 || p[1] == 0x7f):
		return 0, 1, k.done(actCancel)
	}
	e, n := k.next(p)
	switch {
	case n == 0:
		return 0, 0, noAction
	case e.Kind == keys.PasteBegin:
		k.decoder = keys.Decoder{} // it comes again
		return 0, 0, k.done(actCancel)
	case e.Kind == keys.MouseEvent:
		k.event, k.passed = e, 0
		return 0, n, actMouse
	case isFocus(e):
		k.event = e
		return 0, n, actFocus
	case e.Kind != keys.KeyEvent && e.Kind != keys.Unknown:
		return n, 0, noAction
	case k.isLeader(e) && e.Action != keys.Press:
		return 0, n, noAction
	case e.Action == keys.Release, e.IsModifier():
		return n, 0, noAction
	case k.isLeader(e):
		return n, 0, k.done(actSent)
	}
	return 0, n, k.done(meaning(character(e)))
}

func (k *typing) done(act action) action {
	k.pending = false
	return act
}

// character is what the key types. Of a terminal that tells no shifted key: Shift and / in the common layout.
func character(e keys.Event) rune {
	r := e.Rune()
	if r == '/' && e.Mods&keys.Shift != 0 && e.Text == "" && e.Shifted == 0 {
		return '?'
	}
	return r
}

// meaning is the key table.
func meaning(r rune) action {
	switch r {
	case 'd':
		return actDetach
	case '[':
		return actScroll
	case 'z':
		return actSuspend
	case '?':
		return actHelp
	}
	return actUnknown
}
