package vt

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxMachineStates bounds a machine's memory, half a kilobyte each. A line that leads to more may match.
	maxMachineStates = 256
	// machineWork bounds what is spent on new states in one block, in steps of the expression, each of which takes a few
	// nanoseconds. A line that takes more may match.
	machineWork = 1 << 17
)

// machine tells which lines may match, in a look-up for each byte: a deterministic automaton of the expression, whose states
// are made when they are needed. It finds every line in which something matches, and some more: it knows no word boundaries,
// takes all characters beyond ASCII for one, and blanks at a line's end may match though they are not searched.
type machine struct {
	prog   *syntax.Prog
	wide   []bool // of each step: it takes some character beyond ASCII
	states []machineState
	ids    map[string]uint16 // of the steps of a state
	left   int               // of machineWork

	mark []bool // steps that the next state has, or that were followed
	next []uint16
	met  bool // a match has ended
}

// machineState is a set of steps that the expression may be at; that is where it waits for a character, or for the end.
type machineState struct {
	to    [256]uint16 // the state behind a byte of text; behind a line feed, which is a line's end, unknown or mayMatch
	steps []uint16
}

// The first states have no steps.
const (
	unknown    uint16 = iota // to be made
	mayMatch                 // whatever follows
	cannot                   // at a line's end
	lineStart                // at a line's begin
	betweenAny               // behind a begin, with nothing under way
)

func newMachine(prog *syntax.Prog) *machine {
	m := &machine{
		prog: prog, wide: make([]bool, len(prog.Inst)), states: make([]machineState, lineStart),
		ids: map[string]uint16{}, mark: make([]bool, len(prog.Inst)), left: machineWork,
	}
	for i := range prog.Inst {
		m.wide[i] = takesWide(&prog.Inst[i])
	}
	m.follow(uint32(prog.Start), true, false)
	m.state("begin") // a key that no steps have
	m.follow(uint32(prog.Start), false, false)
	m.state(m.key())
	return m
}

// takesWide reports whether a step takes some character beyond ASCII.
func takesWide(in *syntax.Inst) bool {
	switch in.Op {
	case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	case syntax.InstRune, syntax.InstRune1:
		if len(in.Rune) == 1 && syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
			for r := unicode.SimpleFold(in.Rune[0]); r != in.Rune[0]; r = unicode.SimpleFold(r) {
				if r >= utf8.RuneSelf {
					return true
				}
			}
		}
		return len(in.Rune) > 0 && slices.Max(in.Rune) >= utf8.RuneSelf
	}
	return false
}

// takes reports whether a step takes a byte, where a blank is a space.
func (m *machine) takes(pc uint16, b byte) bool {
	switch in := &m.prog.Inst[pc]; {
	case b >= utf8.RuneSelf:
		return m.wide[pc]
	case in.Op == syntax.InstRuneAny || in.Op == syntax.InstRuneAnyNotNL:
		return true
	case b == 0:
		return in.MatchRune(' ')
	default:
		return in.MatchRune(rune(b))
	}
}

// may reports whether something in a line may match.
func (m *machine) may(line []byte) bool {
	s := lineStart
	for i := 0; i < len(line); i++ {
		if s == betweenAny {
			if i += m.idle(line[i:]); i == len(line) {
				break
			}
		}
		to := m.states[s].to[line[i]]
		if to == unknown {
			to = m.make(s, line[i])
		}
		if to == mayMatch {
			return true
		}
		s = to
	}
	to := m.states[s].to['\n']
	if to == unknown {
		to = m.make(s, '\n')
	}
	return to == mayMatch
}

// idle returns how many of the first bytes begin nothing: most of most lines.
func (m *machine) idle(line []byte) (n int) {
	to := &m.states[betweenAny].to
	for ; n+8 <= len(line); n += 8 {
		v := binary.LittleEndian.Uint64(line[n:])
		some := (to[byte(v)] ^ betweenAny) | (to[byte(v>>8)] ^ betweenAny) | (to[byte(v>>16)] ^ betweenAny) | (to[byte(v>>24)] ^ betweenAny)
		some |= (to[byte(v>>32)] ^ betweenAny) | (to[byte(v>>40)] ^ betweenAny) | (to[byte(v>>48)] ^ betweenAny) | (to[byte(v>>56)] ^ betweenAny)
		if some != 0 {
			break
		}
	}
	for n < len(line) && to[line[n]] == betweenAny {
		n++
	}
	return n
}

// make finds the state behind a byte in state s.
func (m *machine) make(s uint16, b byte) uint16 {
	to := s // within a character
	if b < utf8.RuneSelf || b >= 0xc0 {
		if m.left -= len(m.prog.Inst); m.left < 0 {
			return mayMatch
		}
		to = m.step(s, b)
	}
	m.states[s].to[b] = to
	return to
}

func (m *machine) step(s uint16, b byte) uint16 {
	for _, pc := range m.states[s].steps {
		in := &m.prog.Inst[pc]
		switch waits := in.Op == syntax.InstEmptyWidth; { // for the end, which is where only blanks follow
		case waits && b == '\n':
			m.follow(in.Out, false, true)
		case waits && (b == ' ' || b == 0):
			m.mark[pc], m.next = true, append(m.next, pc)
		case !waits && b != '\n' && m.takes(pc, b):
			m.follow(in.Out, false, true)
		}
	}
	if b == '\n' {
		for i := 0; i < len(m.next); i++ {
			if in := &m.prog.Inst[m.next[i]]; in.Op == syntax.InstEmptyWidth {
				m.follow(in.Out, false, true)
			}
		}
	}
	met := m.met
	if b != '\n' && !met {
		m.follow(uint32(m.prog.Start), false, false)
		return m.state(m.key())
	}
	m.clear()
	if met {
		return mayMatch
	}
	return cannot
}

// follow adds the steps from one on that need no character. begin: a line begins here; begun: some of it was taken, so that
// what ends here is a match, and not one of nothing.
func (m *machine) follow(pc uint32, begin, begun bool) {
	if m.mark[pc] {
		return
	}
	in := &m.prog.Inst[pc]
	m.mark[pc] = true
	switch in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		m.follow(in.Out, begin, begun)
		m.follow(in.Arg, begin, begun)
	case syntax.InstCapture, syntax.InstNop:
		m.follow(in.Out, begin, begun)
	case syntax.InstEmptyWidth:
		switch syntax.EmptyOp(in.Arg) {
		case syntax.EmptyBeginLine, syntax.EmptyBeginText:
			if begin {
				m.follow(in.Out, begin, begun)
			}
		case syntax.EmptyEndLine, syntax.EmptyEndText:
			if begun {
				m.next = append(m.next, uint16(pc))
			}
		default:
			m.follow(in.Out, begin, begun)
		}
	case syntax.InstMatch:
		m.met = m.met || begun
	case syntax.InstFail:
	default:
		m.next = append(m.next, uint16(pc))
	}
}

// key is what tells the state that was gathered from others.
func (m *machine) key() string {
	slices.Sort(m.next)
	var b strings.Builder
	for _, pc := range m.next {
		b.WriteByte(byte(pc))
		b.WriteByte(byte(pc >> 8))
	}
	return b.String()
}

// state returns the state that was gathered.
func (m *machine) state(key string) uint16 {
	id, ok := m.ids[key]
	switch {
	case !ok && len(m.states) == maxMachineStates:
		id = mayMatch
	case !ok:
		id = uint16(len(m.states))
		m.ids[key] = id
		m.states = append(m.states, machineState{steps: slices.Clone(m.next)})
	}
	m.clear()
	return id
}

func (m *machine) clear() {
	m.next, m.met = m.next[:0], false
	clear(m.mark)
}
