package vt

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type esctest struct {
	Name   string      `json:"name"`
	Result string      `json:"result"`
	Stable bool        `json:"stable"`
	Steps  [][2]string `json:"steps"`
}

var checksumRequest = regexp.MustCompile(`\x1b\[([0-9;]*)\*y`)

// checksum answers DECRQCRA as the recorded xterm did: the sum of the code points of an area, blanks as 0x20. The
// engine itself does not answer it, as an answer tells a program what others wrote.
func checksum(tm *Terminal, params string) string {
	var v [6]int
	for i, s := range strings.Split(params, ";") {
		v[i], _ = strconv.Atoi(s)
	}
	top, left, bottom, right := max(v[2], 1), max(v[3], 1), v[4], v[5]
	if bottom == 0 {
		bottom = tm.nrows
	}
	if right == 0 {
		right = tm.cols
	}
	if tm.origin {
		top, bottom, left, right = top+tm.top, bottom+tm.top, left+tm.left, right+tm.left
	}
	sum := 0
	for y := top - 1; y < min(bottom, tm.nrows); y++ {
		for x := left - 1; x < min(right, tm.cols); x++ {
			c := tm.Row(y).Cells()[x]
			if c.Rune() == 0 {
				sum += ' '
			} else {
				for _, r := range string(tm.AppendCell(nil, c)) {
					sum += int(r)
				}
			}
		}
	}
	return fmt.Sprintf("\x1bP%d!~%04X\x1b\\", v[0], sum&0xffff)
}

// play feeds one recorded test and returns the first answer that differs, "" when none does.
func (e *esctest) play(tb testing.TB) string {
	tm := New(Options{Cols: 80, Rows: 25, HistoryLines: 1000})
	var got []byte
	for i, step := range e.Steps {
		b, err := hex.DecodeString(step[1])
		require.NoError(tb, err)
		if step[0] == "out" {
			got = nil
			for {
				m := checksumRequest.FindSubmatchIndex(b)
				if m == nil {
					break
				}
				tm.Write(b[:m[0]])
				got = append(got, tm.TakeReplies()...)
				got = append(got, checksum(tm, string(b[m[2]:m[3]]))...)
				b = b[m[1]:]
			}
			tm.Write(b)
			got = append(got, tm.TakeReplies()...)
			continue
		}
		n := min(len(got), len(b))
		if string(got[:n]) != string(b) {
			return fmt.Sprintf("step %d: want %q, got %q", i, b, got)
		}
		got = got[n:]
	}
	return ""
}

func TestEsctest(t *testing.T) {
	f, err := os.Open(filepath.Join(corpus(t, "esctest-xterm"), "esctest-xterm379.ndjson"))
	require.NoError(t, err)
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	passed, used := 0, map[string]bool{}
	for s.Scan() {
		var e esctest
		require.NoError(t, json.Unmarshal(s.Bytes(), &e))
		if e.Result != "pass" || !e.Stable {
			continue
		}
		difference := e.play(t)
		if difference == "" {
			passed++
			continue
		}
		if name := excused("esctest-xterm", e.Name); name != "" {
			used[name] = true
			continue
		}
		t.Errorf("%s: %s", e.Name, difference)
	}
	require.NoError(t, s.Err())
	t.Logf("%d passed", passed)
	requireAllUsed(t, "esctest-xterm", used)
}
