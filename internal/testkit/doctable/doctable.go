package doctable

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// Rows returns the body of a table, cell by cell, without the marks of code and emphasis. The
// head is not part of it; Head returns that.
func Rows(t testing.TB, path, name string) [][]string {
	t.Helper()
	return table(t, path, name)[1:]
}

// Head returns the titles of a table's columns.
func Head(t testing.TB, path, name string) []string {
	t.Helper()
	return table(t, path, name)[0]
}

func table(t testing.TB, path, name string) [][]string {
	t.Helper()
	var rows [][]string
	for _, line := range strings.Split(behind(t, path, "<!-- table: "+name+" -->\n"), "\n") {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if !strings.HasPrefix(line, "|---") {
			rows = append(rows, cells(line))
		}
	}
	if len(rows) < 2 {
		t.Fatalf("%s: table %q is empty", path, name)
	}
	for _, r := range rows {
		if len(r) != len(rows[0]) {
			t.Fatalf("%s: table %q: %d columns, this row has %d: %v", path, name, len(rows[0]), len(r), r)
		}
	}
	return rows
}

func cells(line string) []string {
	out := strings.Split(strings.Trim(line, "|"), "|")
	for i := range out {
		out[i] = strings.Trim(strings.TrimSpace(out[i]), "`*")
	}
	return out
}

// Hex returns the bytes of an example, a fenced block of hexadecimal digits.
func Hex(t testing.TB, path, name string) []byte {
	t.Helper()
	rest, ok := strings.CutPrefix(behind(t, path, "<!-- hex: "+name+" -->\n"), "```\n")
	digits, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("%s: example %q is no fenced block", path, name)
	}
	b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
	if err != nil {
		t.Fatalf("%s: example %q: %v", path, name, err)
	}
	return b
}

// behind is what follows a mark, which must be there once.
func behind(t testing.TB, path, mark string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), mark)
	if !ok || strings.Contains(rest, mark) {
		t.Fatalf("%s has not exactly one %s", path, strings.TrimSpace(mark))
	}
	return rest
}
