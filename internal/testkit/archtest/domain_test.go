package archtest

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// impure are packages that reach out of a pure function; below them, too.
var impure = []string{
	"context", "crypto/rand", "io/fs", "io/ioutil", "log", "math/rand", "net", "os", "os/exec", "runtime", "sync", "testing", "unsafe",
}

// values are packages below an impure one that hold values alone.
var values = []string{"net/netip"}

// clock are the parts of package time that ask or keep the time.
var clock = []string{
	"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker",
}

func TestDomainIsPure(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.generator() || !under(s.pkg, domainDir) {
			continue
		}
		for _, imported := range s.imports {
			if !slices.Contains(values, imported) && slices.ContainsFunc(impure, func(p string) bool { return under(imported, p) }) {
				t.Errorf("%s imports %s: the domain has no I/O, clock, goroutine or lock; what it needs of the world is an argument", s.path, imported)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: the domain starts no goroutine: its values belong to whoever calls", at(s, n))
			case *ast.SelectorExpr:
				checkSelector(t, s, n)
			}
			return true
		})
	}
}

// checkSelector allows time for its types and syscall for its signals.
func checkSelector(t *testing.T, s *source, n *ast.SelectorExpr) {
	pkg, ok := n.X.(*ast.Ident)
	if !ok {
		return
	}
	name := n.Sel.Name
	switch {
	case pkg.Name == "time" && slices.Contains(clock, name):
		t.Errorf("%s: time.%s: the time is an argument in the domain", at(s, n), name)
	case pkg.Name == "syscall" && name != "Signal" && !strings.HasPrefix(name, "SIG"):
		t.Errorf("%s: syscall.%s: the domain knows signals by number and calls nothing", at(s, n), name)
	}
}
