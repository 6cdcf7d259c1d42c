package archtest

import (
	"go/ast"
	"testing"
)

// A test that enters a bubble by itself may crash the race detector, and the run with it.
func TestBubblesAreEnteredInOnePlace(t *testing.T) {
	const place = testkitDir + "/bubble"
	for _, s := range sources(t) {
		if s.pkg == place {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Test" {
				return true
			}
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "synctest" {
				t.Errorf("%s enters a bubble of testing/synctest: bubble.Test does, on one processor where the race detector needs it", at(s, n))
			}
			return true
		})
	}
}
