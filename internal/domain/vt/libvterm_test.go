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

// libvtermExceptions are checks of the corpus, as FILE:LINE of the original script or a whole FILE, that this engine
// does not pass, with the reason.
var libvtermExceptions = map[string]string{
	"17state_mouse.test":          "the engine writes no mouse events",
	"25state_input.test":          "the engine writes no keys",
	"40state_selection.test":      "clipboard strings come whole; none is sent",
	"92lp1640917.test":            "the engine writes no mouse events",
	"28state_dbl_wh.test:27":      "double-width lines are plain",
	"11state_movecursor.test:178": "HPB is not carried out, as in xterm",
	"11state_movecursor.test:194": "VPB is not carried out, as in xterm",
	"13state_edit.test:81":        "IL goes to the left margin, as in xterm",
	"13state_edit.test:269":       "DECSCA 2 is reported as 0, as in xterm",
	"16state_resize.test:36":      "lines are wrapped anew",
	"26state_query.test:7":        "the answers tell who answers",
	"26state_query.test:12":       "the same",
	"26state_query.test:27":       "DECXCPR has a page, as in xterm",
	"26state_query.test:37":       "SGR reports begin with 0, and have a colour space slot, as in xterm",
	"26state_query.test:42":       "the same",
	"26state_query.test:47":       "the same",
	"26state_query.test:52":       "the same",
	"26state_query.test:57":       "the same",
	"26state_query.test:62":       "answers in 8-bit form are not given",
	"63screen_resize.test:103":    "the reset before cleared the history, as RIS does",
	"63screen_resize.test:104":    "the same",
	"63screen_resize.test:105":    "the same",
	"63screen_resize.test:106":    "the same",
	"69screen_reflow.test:74":     "a full screen that gets room takes lines back from the history",
	"69screen_reflow.test:75":     "the same",
	"69screen_reflow.test:76":     "the same",
	"69screen_reflow.test:78":     "the same",
	"69screen_reflow.test:79":     "the same",
}

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
		if _, ok := libvtermExceptions[f.File]; ok {
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
				switch _, excused := libvtermExceptions[at]; {
				case want == got:
					passed++
				case excused:
					used[at] = true
				default:
					t.Errorf("%s %s: want %q, got %q", at, c.Name, want, got)
				}
			}
		}
	}
	t.Logf("%d checks passed", passed)
	for at := range libvtermExceptions {
		require.True(t, used[at], "no exception any more: %s", at)
	}
}
