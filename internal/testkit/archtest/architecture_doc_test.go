package archtest

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/testkit/doctable"
)

const architectureDoc = root + "/docs/architecture.md"

// declared are the names of the functions, methods and constants that each file declares.
func declared(t *testing.T) map[string]map[string]bool {
	t.Helper()
	out := map[string]map[string]bool{}
	for _, s := range sources(t) {
		names := map[string]bool{}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						for _, id := range v.Names {
							names[id.Name] = true
						}
					}
				}
			}
		}
		out[s.path] = names
	}
	return out
}

// Every place that a table names is there: a map that lies is worse than none.
func TestTheMapIsTrue(t *testing.T) {
	names := declared(t)
	for table, column := range map[string]int{"walk of a key": 1, "walk of a frame": 1, "goroutines": 1, "bounds": 0} {
		for _, row := range doctable.Rows(t, architectureDoc, table) {
			file, name, ok := strings.Cut(row[column], ": ")
			require.True(t, ok, "%s: %q is not \"file: name\"", table, row[column])
			require.Contains(t, names, file, "%s: no such file", table)
			require.True(t, names[file][name], "%s: %s does not declare %s", table, file, name)
		}
	}
}

// Every file that starts a goroutine is in the table, which says who owns and joins it.
func TestEveryGoroutineHasARow(t *testing.T) {
	listed := map[string]bool{}
	for _, row := range doctable.Rows(t, architectureDoc, "goroutines") {
		file, _, _ := strings.Cut(row[1], ": ")
		listed[file] = true
	}
	for _, s := range sources(t) {
		if s.test || !(under(s.pkg, "internal") || under(s.pkg, "cmd")) || under(s.pkg, testkitDir) || under(s.pkg, portsDir) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if starts(n) && !listed[s.path] {
				t.Errorf("%s starts a goroutine and is not in the table of docs/architecture.md: who owns it, when does it end, who joins it?", at(s, n))
			}
			return true
		})
	}
}

// starts reports whether n is a go statement or the Go method of a wait group.
func starts(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "Go" && len(n.Args) == 1
	}
	return false
}

// The code map names each package, and no others.
func TestTheMapIsComplete(t *testing.T) {
	text := read(t, "docs/architecture.md")
	_, rest, ok := strings.Cut(text, "## Code map\n\n```\n")
	require.True(t, ok)
	block, _, _ := strings.Cut(rest, "```")
	named := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
		dir, _, _ := strings.Cut(line, " ")
		require.NotContains(t, named, dir, "the code map has it twice")
		named[dir] = false
	}
	for _, s := range sources(t) {
		if s.test || s.generator() {
			continue
		}
		found := false
		for dir := range named {
			if under(s.pkg, dir) && (s.pkg == dir || dir == testkitDir || dir == portsDir || dir == "test" || dir == "tools") {
				named[dir], found = true, true
			}
		}
		if !found {
			t.Errorf("%s is not on the code map of docs/architecture.md", s.pkg)
		}
	}
	for dir, exists := range named {
		require.True(t, exists, "the code map has %s, which does not exist", dir)
	}
}
