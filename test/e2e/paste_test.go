//go:build linux

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// paste is what a terminal sends for a paste of text; it has asked for brackets by then.
func (tt *term) paste(text string) {
	tt.t.Helper()
	tt.until("brackets", func(s *vt.Terminal) bool { return s.Modes().BracketedPaste })
	tt.typ("\x1b[200~" + text + "\x1b[201~")
}

// TestPasteForCat: a program that has not asked for brackets gets the text, and no key in it is vev's or the program's.
func TestPasteForCat(t *testing.T) {
	h := newHome(t)
	h.sh("x", `stty raw -echo; printf ready; exec cat -vT`)
	tt := newTerm(t, 80, 24)
	p := tt.vev(h, "attach", "x")
	tt.sees("ready")
	tt.paste("one\r\ntwo\x1cd\x03\t\x1b[A.\n")
	tt.sees("readyone^Mtwod^I[A.^M")
	tt.typ("\x1cd")
	require.Zero(t, p.exits())
	tt.until("no brackets", func(s *vt.Terminal) bool { return !s.Modes().BracketedPaste })
}

// TestPasteForBash: a program that has asked for them gets the brackets, the one that it runs and that has not does not.
func TestPasteForBash(t *testing.T) {
	bash := need(t, "bash")
	h := newHome(t)
	tt := newTerm(t, 80, 24)
	tt.vev(h, "new", "x", "--", bash, "--norc", "--noprofile", "-i")
	tt.sees("$\n")
	tt.typ("true; ") // its echo is of a later frame than the mode
	tt.sees("$ true;")
	tt.paste("echo $((6*7))-\recho more")
	tt.sees("echo more")
	require.NotContains(t, tt.text(), "42-", "a pasted line is not run")
	tt.typ("\r")
	tt.sees("42-\nmore\n$\n")
	tt.typ("echo go; cat\r") // what is typed before the shell has left its line is not what cat would read
	tt.sees("cat\ngo\n")
	tt.typ("typed\r")
	tt.sees("typed\ntyped\n")
	tt.paste("for cat\n")
	tt.sees("for cat\nfor cat\n")
	tt.typ("\x04")
	tt.typ("exit 3\r")
	tt.until("the shell's end", func(s *vt.Terminal) bool { return !s.Modes().BracketedPaste })
}

// TestPasteOfAMegabyte arrives byte for byte.
func TestPasteOfAMegabyte(t *testing.T) {
	var text strings.Builder
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprintf(&text, "line %d of many, äöü 漢字\r", i)
	}
	h := newHome(t)
	h.sh("x", fmt.Sprintf(`stty raw -echo; printf ready; head -c %d > pasted; printf done; read x`, text.Len()))
	tt := newTerm(t, 80, 24)
	tt.vev(h, "attach", "x")
	tt.sees("ready")
	tt.paste(text.String())
	tt.sees("done")
	require.True(t, text.String() == h.read("pasted"))
}
