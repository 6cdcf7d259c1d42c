package main

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

func TestEveryKindOfFailureHasItsExitCode(t *testing.T) {
	want := map[fault.Kind]int{
		fault.Internal: 1, fault.Usage: 2, fault.NotFound: 1, fault.Conflict: 1, fault.Denied: 1,
		fault.Unavailable: 3, fault.Limit: 1, fault.Incompatible: 3, fault.Violation: 1, fault.Canceled: 1,
		fault.Timeout: 4, fault.Unsupported: 1, fault.Unknown: 3,
	}
	for kind := fault.Kind(0); kind.Valid(); kind++ {
		code, ok := want[kind]
		require.True(t, ok, "kind %s is new: decide its exit code", kind)
		require.Equal(t, code, exitCode(kind), kind)
	}
}

func TestReportIsOneLineAndOneHint(t *testing.T) {
	var out bytes.Buffer
	code := report(&out, fmt.Errorf("wrapped: %w", fault.New(fault.NotFound, "no\x1b[2J\nsession").WithHint("look\nthere")))
	require.Equal(t, 1, code)
	require.Equal(t, "vev: wrapped: no [2J session\nhint: look there\n", out.String())
	out.Reset()
	require.Equal(t, 42, report(&out, exitStatus(42)))
	require.Empty(t, out.String(), "an exit status says nothing")
	require.Equal(t, 0, report(&out, nil))
}

func TestTableIsAlignedByDisplayWidth(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, writeTable(&out, [][]string{
		{"NAME", "TITLE", "X"},
		{"日本", "a\tb\x1b[31m\u202eq", "1"},
		{"é", strings.Repeat("long ", 20), ""},
	}))
	require.Equal(t, strings.Join([]string{
		"NAME  TITLE" + strings.Repeat(" ", 57) + "X",
		"日本  a b [31m q" + strings.Repeat(" ", 52) + "1",
		"é     " + strings.Repeat("long ", 11) + "long…",
		"",
	}, "\n"), out.String())
}

// What comes later stands in the columns of what was written, and nothing is written twice or before it is known.
func TestATableOfAllHostsGrows(t *testing.T) {
	var out bytes.Buffer
	session := func(host string, n byte) catalogue.Session {
		return catalogue.Session{Host: host, SessionInfo: domain.SessionInfo{ID: domain.SessionID{n}, Name: fmt.Sprintf("name%d", n)}}
	}
	names := func() (lines []string) {
		for line := range strings.Lines(out.String()) {
			lines = append(lines, strings.Join(strings.Fields(line)[:2], " "))
		}
		out.Reset()
		return lines
	}
	table := newAllTable(bufio.NewWriter(&out), false)
	l := &listing{
		hosts:    []catalogue.Host{{Name: "a", State: catalogue.Current}, {Name: "b", State: catalogue.Asking}, {Name: "c", State: catalogue.Asking}},
		sessions: []catalogue.Session{session("a", 1), session("b", 2)},
	}
	now := time.Now()
	require.NoError(t, table.write(now, &listing{hosts: l.hosts[1:], sessions: l.sessions[1:]}, false))
	require.Empty(t, names(), "what was listed of b before may have changed")
	require.NoError(t, table.write(now, l, false))
	require.Equal(t, []string{"HOST NAME", "a name1"}, names())
	l.hosts[1].State, l.sessions = catalogue.Current, append(l.sessions, session("b", 1), session("c", 3))
	require.NoError(t, table.write(now, l, false))
	require.Equal(t, []string{"b name2"}, names())
	require.NoError(t, table.write(now, l, true))
	require.Equal(t, []string{"c name3"}, names())
}

// Both ways of measuring a cell agree.
func TestPlainCellsAreAsWideAsTheyAreLong(t *testing.T) {
	for c := range rune(0x180) {
		cell := "a" + string(c) + "b"
		require.Equal(t, displaywidth.String(cell), columns(cell), "%q", cell)
		if isPlain(cell) {
			require.Equal(t, cell, printable(cell))
		}
	}
}

func TestCommandTextQuotes(t *testing.T) {
	require.Equal(t, `sh -c 'echo "$HOME"; exit' it'\''s ''`,
		strings.Replace(commandText([]string{"sh", "-c", `echo "$HOME"; exit`, "it's", ""}), `'it'\''s'`, `it'\''s`, 1))
}

func TestAge(t *testing.T) {
	now := time.Now()
	for want, ago := range map[string]time.Duration{
		"0s ago": -time.Hour, "59s ago": 59 * time.Second, "1m ago": time.Minute, "59m ago": 59*time.Minute + 59*time.Second,
		"1h ago": time.Hour, "23h ago": 24*time.Hour - 1, "1d ago": 24 * time.Hour,
	} {
		require.Equal(t, want, age(now, now.Add(-ago)))
	}
}

func TestParseSize(t *testing.T) {
	size, err := parseSize("132x43")
	require.NoError(t, err)
	require.Equal(t, domain.Size{Cols: 132, Rows: 43}, size)
	for _, good := range []string{"1x1", "1000x500"} {
		_, err := parseSize(good)
		require.NoError(t, err, good)
	}
	for _, bad := range []string{"", "x", "80", "80x", "x24", "0x24", "80x0", "1001x24", "80x501", "80x24x1", "-1x5", "80X24", " 80x24"} {
		_, err := parseSize(bad)
		require.Equal(t, fault.Usage, fault.KindOf(err), bad)
	}
}

func TestLocale(t *testing.T) {
	check := func(vars map[string]string) finding {
		return checkLocale(func(name string) string { return vars[name] })
	}
	require.Equal(t, levelOK, check(map[string]string{"LANG": "C.UTF-8"}).level)
	require.Equal(t, levelOK, check(map[string]string{"LC_ALL": "de_DE.utf8", "LANG": "C"}).level)
	require.Equal(t, levelWarn, check(map[string]string{"LC_ALL": "C", "LANG": "C.UTF-8"}).level)
	require.Equal(t, levelWarn, check(nil).level)
}

func TestAttachingInsideASession(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	t.Setenv(envID, "")
	t.Setenv(envSession, "")
	require.NoError(t, mayAttach(domain.Host{}, &protocol.Attach{}, false), "outside all is well")

	t.Setenv(envID, id)
	t.Setenv(envSession, "work")
	for _, c := range []struct {
		why    string
		attach protocol.Attach
		nest   bool
		ok     bool
	}{
		{"not meant", protocol.Attach{Session: "other"}, false, false},
		{"meant", protocol.Attach{Session: "other"}, true, true},
		{"a new one", protocol.Attach{Create: &protocol.Create{}}, true, true},
		{"the one used last may be this one", protocol.Attach{}, true, false},
		{"itself by name", protocol.Attach{Session: "work"}, true, false},
		{"itself by id", protocol.Attach{Session: id, Create: &protocol.Create{}}, true, false},
	} {
		err := mayAttach(domain.Host{}, &c.attach, c.nest)
		require.Equal(t, c.ok, err == nil, c.why)
		if err != nil {
			require.Equal(t, fault.Usage, fault.KindOf(err), c.why)
		}
	}
	elsewhere := domain.Host{Name: "desk"}
	require.Error(t, mayAttach(elsewhere, &protocol.Attach{Session: "work"}, false), "inside another machine's, not meant")
	require.NoError(t, mayAttach(elsewhere, &protocol.Attach{Session: "work"}, true), "another machine's of the same name")
	require.NoError(t, mayAttach(elsewhere, &protocol.Attach{}, true))
	require.Equal(t, id, surroundingSession())
}

func TestCaptureWithStyles(t *testing.T) {
	const (
		red  = 1<<24 | 1
		rgb  = 2<<24 | 0x0a0b0c
		wide = "日本"
	)
	for _, c := range []struct {
		why, text, want string
		runs            []protocol.Run
	}{
		{why: "plain", text: "a  b", want: "a  b"},
		{why: "empty"},
		{
			why: "a run in the middle", text: "abcd", runs: []protocol.Run{{Col: 2, Len: 2, Fg: red}},
			want: "a\x1b[0;38;5;1mbc\x1b[0md",
		},
		{
			why: "runs side by side", text: "ab", runs: []protocol.Run{
				{Col: 1, Len: 1, Attrs: protocol.AttrBold | protocol.AttrStrike, Underline: 1},
				{Col: 2, Len: 1, Bg: rgb, Underline: 3, UnderlineColor: red},
			},
			want: "\x1b[0;1;9;4ma\x1b[0;4:3;48;2;10;11;12;58;5;1mb\x1b[0m",
		},
		{
			why: "columns are not characters", text: wide + "x", runs: []protocol.Run{{Col: 3, Len: 2, Fg: red}},
			want: "日\x1b[0;38;5;1m本\x1b[0mx",
		},
		{
			why: "a background behind the text", text: "a", runs: []protocol.Run{{Col: 2, Len: 3, Bg: red}},
			want: "a\x1b[0;48;5;1m   \x1b[0m",
		},
		{
			why: "a link, with what must not be in one", text: "ab", runs: []protocol.Run{{Col: 1, Len: 1, Link: "http://x/\x1b"}},
			want: "\x1b]8;;http://x/ \x1b\\a\x1b]8;;\x1b\\b",
		},
	} {
		scratch := vt.New(vt.Options{Cols: vt.MaxCols, Rows: 1})
		_, _ = scratch.Write([]byte("\x1b[1mleft over"))
		require.Equal(t, c.want, string(appendANSI(nil, scratch, &protocol.Line{Text: c.text, Runs: c.runs})), c.why)
	}
}
