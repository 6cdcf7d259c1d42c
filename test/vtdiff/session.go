package main

import (
	"fmt"
	"strings"
)

// step is one thing that happens to a terminal: bytes, or a new size when cols is not 0.
type step struct {
	bytes      string
	cols, rows int
}

// session is what all voices are given, from a fresh terminal on.
type session struct {
	profile    profile
	cols, rows int
	steps      []step
}

// cancel ends whatever sequence is open; every voice gets it before a resize and at the end, as xterm is asked in
// band for both.
const cancel = "\x18"

// size is the size that the session ends with.
func (s *session) size() (cols, rows int) {
	cols, rows = s.cols, s.rows
	for _, st := range s.steps {
		if st.cols != 0 {
			cols, rows = st.cols, st.rows
		}
	}
	return cols, rows
}

// text is the input without its sizes.
func (s *session) text() string {
	var b strings.Builder
	for _, st := range s.steps {
		b.WriteString(st.bytes)
	}
	return b.String()
}

// String is the session as a reproduction that can be read and pasted into a test.
func (s *session) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %dx%d", s.profile.name, s.cols, s.rows)
	open := false
	for _, st := range s.steps {
		if st.cols != 0 {
			if open {
				b.WriteByte('"')
			}
			open = false
			fmt.Fprintf(&b, " resize(%d,%d)", st.cols, st.rows)
			continue
		}
		if !open {
			b.WriteString(` "`)
			open = true
		}
		q := fmt.Sprintf("%q", st.bytes)
		b.WriteString(q[1 : len(q)-1])
	}
	if open {
		b.WriteByte('"')
	}
	return b.String()
}
