package vt

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

type libvtermStep struct {
	Do, Event, Check string
	Args, Hex        string
	Value            any
	Line             int
}

type libvtermFile struct {
	File  string
	Cases []struct {
		Name  string
		Steps []libvtermStep
	}
}

// do carries out a command; it reports false for those that do not concern an engine's screen.
func (s *libvtermStep) do(tb testing.TB, tm **Terminal) bool {
	switch s.Do {
	case "INIT":
		*tm = New(Options{Cols: 80, Rows: 25, HistoryLines: 100})
	case "RESET":
		(*tm).Write([]byte("\x1bc"))
	case "PUSH":
		b, err := hex.DecodeString(s.Hex)
		require.NoError(tb, err)
		(*tm).TakeReplies()
		(*tm).Write(b)
	case "RESIZE":
		rows, cols, _ := strings.Cut(s.Args, ",")
		r, _ := strconv.Atoi(rows)
		c, _ := strconv.Atoi(cols)
		(*tm).Resize(c, r)
	case "UTF8":
		return s.Args == "1"
	default:
		return strings.HasPrefix(s.Do, "WANT") || strings.HasPrefix(s.Do, "DAMAGE")
	}
	return true
}

// verify compares what carries over: the cursor, rows of text, and answers. ok reports whether the step was of those.
func (s *libvtermStep) verify(tb testing.TB, tm *Terminal) (want, got string, ok bool) {
	switch {
	case s.Check == "cursor":
		c := tm.Cursor()
		return s.Value.(string), fmt.Sprintf("%d,%d", c.Row, c.Col), true
	case s.Check == "screen_row":
		y, _ := strconv.Atoi(s.Args)
		b, _ := hex.DecodeString(s.Hex)
		if cps, ok := s.Value.(string); ok && cps != "" {
			for cp := range strings.SplitSeq(cps, ",") {
				r, err := strconv.ParseUint(cp, 0, 32)
				require.NoError(tb, err)
				b = utf8.AppendRune(b, rune(r))
			}
		}
		return strings.TrimRight(string(b), " "), rowText(tm, tm.Row(y)), true
	case s.Event == "output":
		b, _ := hex.DecodeString(s.Hex)
		n := min(len(b), len(tm.replies))
		got := string(tm.replies[:n])
		tm.replies = tm.replies[n:]
		return string(b), got, true
	}
	return "", "", false
}

func TestLibvterm(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus(t, "libvterm"), "*.json"))
	require.NoError(t, err)
	passed := 0
	used := map[string]bool{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		var f libvtermFile
		require.NoError(t, json.Unmarshal(b, &f))
		if excused("libvterm", f.File) != "" {
			used[f.File] = true
			continue
		}
		var tm *Terminal
		for _, c := range f.Cases {
			for _, s := range c.Steps {
				if s.Do != "" {
					s.do(t, &tm)
					continue
				}
				want, got, ok := s.verify(t, tm)
				if !ok {
					continue
				}
				at := fmt.Sprintf("%s:%d", f.File, s.Line)
				switch {
				case want == got:
					passed++
				case excused("libvterm", at) != "":
					used[at] = true
				default:
					t.Errorf("%s %s: want %q, got %q", at, c.Name, want, got)
				}
			}
		}
	}
	t.Logf("%d checks passed", passed)
	requireAllUsed(t, "libvterm", used)
}
