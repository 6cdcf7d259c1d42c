package vt

import (
	"errors"
	"math"
	"regexp"
	"regexp/syntax"
	"sort"

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
	// blockBytes is how much text is looked over at once: what the processor has at hand. One piece more may be in it.
	blockBytes = 16 << 10

	// SearchBudget is about a millisecond's work, where 1 is a nanosecond.
	SearchBudget = 1 << 20
)

// Search finds matches of a regular expression (Go's syntax) in the history and the main screen of a terminal. Rows
// that were wrapped softly are searched as one line, without blanks at its end; matches of nothing are passed over, and
// of the matches that begin in one cell one is seen. It is for one goroutine at a time, and may be used for several
// terminals.
type Search struct {
	re    *regexp.Regexp
	steps int // of re for a byte of text, about
	sieve sieve
	// machine knows better than the sieve, and takes longer: where there are probes, for lines that have one.
	machine *machine

	t      *Terminal
	chunk  int    // where the last history line was found
	packed []byte // a row of the screen, packed
	spent  int
	block  block

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
	return &Search{re: re, steps: len(prog.Inst), sieve: newSieve(tree), machine: newMachine(prog)}, nil
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
// budget bounds the call's work, by a block and the matches in a piece exceeded at most; between calls the terminal may
// change.
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
		next := s.fill(n, end, s.blockLimit(budget))
		for _, n := range s.candidates() {
			if s.spent >= budget && n > from.Line {
				return Found{More: true, Next: Place{Line: n}}
			}
			if s.gather(n) <= from.Line {
				continue
			}
			for _, m := range s.matches() {
				if found := s.match(m); !found.From.Before(from) {
					return Found{Match: found, OK: true}
				}
			}
		}
		n = next
		if s.spent >= budget && n > from.Line && n < end {
			return Found{More: true, Next: Place{Line: n}}
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
		start := s.blockStart(above, s.blockLimit(budget))
		s.fill(start, above, math.MaxInt)
		pieces := s.candidates()
		for i := len(pieces) - 1; i >= 0; i-- {
			s.gather(pieces[i])
			all := s.matches()
			if n := sort.Search(len(all), func(i int) bool { return !s.match(all[i]).From.Before(from) }); n > 0 {
				return Found{Match: s.match(all[n-1]), OK: true}
			}
			if above = pieces[i]; s.spent >= budget && above > t.hist.first {
				return Found{More: true, Next: Place{Line: above}}
			}
		}
		if above = start; s.spent >= budget && above > t.hist.first {
			return Found{More: true, Next: Place{Line: above}}
		}
	}
	return Found{}
}

func (s *Search) begin(t *Terminal) {
	if s.t != t {
		s.t, s.chunk = t, 0
	}
	s.spent = 0
}

// blockLimit is how much text the next block may have with what is left of a budget.
func (s *Search) blockLimit(budget int) int { return min(max(budget-s.spent, 1), blockBytes) }

// matches returns where the expression matches in the piece's text.
func (s *Search) matches() [][]int {
	s.spent += len(s.text)
	if !s.machine.may(s.text) {
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
