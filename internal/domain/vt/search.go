package vt

import (
	"bytes"
	"errors"
	"regexp"
	"regexp/syntax"
	"sort"
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain/fault"
)

// Bounds of a search; they keep one call short whatever expression and text are.
const (
	// MaxSearchBytes bounds an expression's length.
	MaxSearchBytes = 1 << 10
	// maxSearchSteps bounds what an expression compiles to; one that needs more is refused.
	maxSearchSteps = 1000
	// maxJoinedRows and maxJoinedBytes bound a piece: a longer line of soft-wrapped rows is searched in pieces that have
	// a row in common, so a match over more rows may be missed there.
	maxJoinedRows  = 512
	maxJoinedBytes = 16 << 10
	// maxPieceMatches bounds the matches that are seen in one piece.
	maxPieceMatches = 4096

	// SearchBudget is about a millisecond's work.
	SearchBudget = 1 << 20
	// rowCost is what a row costs of a budget beside its text, where a byte that is looked at costs 1.
	rowCost = 32
)

// Search finds matches of a regular expression (Go's syntax) in the history and the main screen of a terminal. Rows
// that were wrapped softly are searched as one line, without blanks at its end; matches of nothing are passed over, and
// of the matches that begin in one cell one is seen. It is for one goroutine at a time, and may be used for several
// terminals.
type Search struct {
	re *regexp.Regexp
	// probe is in every match, or "": lines without it are passed over without asking re. With fold, ASCII letters of
	// either case count; the probe has lower ones.
	probe []byte
	fold  bool
	steps int // of re for a byte of text, about

	t      *Terminal
	chunk  int    // where the last history line was found
	packed []byte // a row of the screen, packed
	lower  []byte
	spent  int

	// The piece that is looked at: its text, the row it begins in, and where in text each of its rows begins.
	text  []byte
	first uint64
	rows  []int
}

// NewSearch compiles an expression. Errors are faults: Usage, when it is none; Limit, when it is larger than
// MaxSearchBytes or compiles to more than is searched with.
func NewSearch(expr string) (*Search, error) {
	if len(expr) > MaxSearchBytes {
		return nil, fault.New(fault.Limit, "the expression has %d bytes, at most %d", len(expr), MaxSearchBytes)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		var bad *syntax.Error
		errors.As(err, &bad)
		return nil, fault.New(fault.Usage, "bad expression: %s: %s", bad.Code, fault.Clean(bad.Expr)).
			WithHint("put a backslash before any of \\.+*?()|[]{}^$ that stands for itself")
	}
	tree = tree.Simplify()
	prog, err := syntax.Compile(tree)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the expression does not compile")
	}
	if len(prog.Inst) > maxSearchSteps {
		return nil, fault.New(fault.Limit, "the expression takes %d steps, at most %d", len(prog.Inst), maxSearchSteps).
			WithHint("a counted repetition takes as many steps as what it repeats, each time")
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the expression does not compile")
	}
	s := &Search{re: re, steps: len(prog.Inst)}
	probe, fold := required(tree)
	s.probe, s.fold = []byte(probe), fold
	return s, nil
}

// required returns a text that every match of re contains, the longest that is easily found, in lower case when fold.
func required(re *syntax.Regexp) (text string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune), false
		}
		return foldable(re.Rune), true
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if t, f := required(sub); len(t) > len(text) {
				text, fold = t, f
			}
		}
	}
	return text, fold
}

// foldable returns the literal in lower case, "" when more than the two cases of ASCII letters match it.
func foldable(literal []rune) string {
	b := make([]byte, 0, len(literal))
	for _, r := range literal {
		if r >= utf8.RuneSelf {
			return ""
		}
		b = append(b, byte(r))
	}
	lowerASCII(b)
	return string(b)
}

func lowerASCII(b []byte) {
	for i, c := range b {
		if c-'A' < 26 {
			b[i] = c | 0x20
		}
	}
}

// Place is a column of a numbered line, see [Terminal.ReadLine].
type Place struct {
	Line uint64
	Col  int
}

// Before reports whether p comes before o.
func (p Place) Before(o Place) bool {
	return p.Line < o.Line || p.Line == o.Line && p.Col < o.Col
}

// Match is where an expression matches: the columns from From to before To. To is in the match's last row, which is
// another than From's when the match goes over a soft wrap.
type Match struct{ From, To Place }

// Found is what a call found.
type Found struct {
	Match Match
	OK    bool // there is a match
	// More: the budget was spent before all was searched. The search goes on from Next, in the same direction.
	More bool
	Next Place
}

// Down finds the first match that begins at from or behind it. To find the one after a match, go on from its To. The
// budget bounds the call's work, by one piece exceeded at most; between calls the terminal may change.
func (s *Search) Down(t *Terminal, from Place, budget int) Found {
	s.begin(t)
	if from.Line < t.hist.first {
		from = Place{Line: t.hist.first}
	}
	end := t.linesEnd()
	if from.Line >= end {
		return Found{}
	}
	for n := s.pieceStart(from.Line); n < end; {
		if s.spent >= budget && n > from.Line {
			return Found{More: true, Next: Place{Line: n}}
		}
		n = s.gather(n, end)
		if n <= from.Line {
			continue
		}
		for _, m := range s.matches() {
			if found := s.match(m); !found.From.Before(from) {
				return Found{Match: found, OK: true}
			}
		}
	}
	return Found{}
}

// Up finds the last match that begins before from, as Down finds the first. To find the one before a match, go on from
// its From.
func (s *Search) Up(t *Terminal, from Place, budget int) Found {
	s.begin(t)
	end := t.linesEnd()
	if from.Line >= end {
		from = Place{Line: end}
	}
	above := from.Line // rows before this one are left
	if from.Col > 0 {
		above++
	}
	for above > t.hist.first {
		start := s.pieceStart(above - 1)
		if m, ok := s.lastBefore(start, above-1, from, end); ok {
			return Found{Match: m, OK: true}
		}
		if above = start; s.spent >= budget && above > t.hist.first {
			return Found{More: true, Next: Place{Line: above}}
		}
	}
	return Found{}
}

// lastBefore returns the last match before from in the pieces from row start to the one with row last.
func (s *Search) lastBefore(start, last uint64, from Place, end uint64) (found Match, ok bool) {
	for n := start; n <= last; {
		n = s.gather(n, end)
		all := s.matches()
		i := sort.Search(len(all), func(i int) bool { return !s.match(all[i]).From.Before(from) })
		if i > 0 {
			found, ok = s.match(all[i-1]), true
		}
	}
	return found, ok
}

func (s *Search) begin(t *Terminal) {
	if s.t != t {
		s.t, s.chunk = t, 0
	}
	s.spent = 0
}

// matches returns where the expression matches in the piece's text.
func (s *Search) matches() [][]int {
	if !s.mayMatch() {
		return nil
	}
	s.spent += len(s.text) * min(s.steps, 32)
	all := s.re.FindAllIndex(s.text, maxPieceMatches)
	n := 0
	for _, m := range all {
		if m[0] < m[1] {
			all[n] = m
			n++
		}
	}
	return all[:n]
}

// mayMatch reports whether the probe is in the piece's text.
func (s *Search) mayMatch() bool {
	if len(s.probe) == 0 {
		return true
	}
	if !s.fold {
		return bytes.Contains(s.text, s.probe)
	}
	s.lower = append(s.lower[:0], s.text...)
	for _, c := range s.lower {
		if c >= utf8.RuneSelf {
			return true // K and ſ, for example, are letters of other cases outside ASCII
		}
	}
	lowerASCII(s.lower)
	return bytes.Contains(s.lower, s.probe)
}
