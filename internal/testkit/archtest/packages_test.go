package archtest

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// A reader meets a package through its doc.go: what it owns, what it never does.
func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	doc := map[string]string{} // where the package's comment is, "" if it has none
	for _, s := range sources(t) {
		if s.test || s.generator() {
			continue
		}
		if _, seen := doc[s.pkg]; !seen {
			doc[s.pkg] = ""
		}
		if s.file.Doc != nil && !strings.HasPrefix(s.file.Doc.Text(), "Code generated") {
			doc[s.pkg] = s.path
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(doc)) {
		switch where := doc[pkg]; {
		case where == "":
			t.Errorf("package %s has no comment: what does it own, and what does it never do?", pkg)
		case strings.HasPrefix(pkg, "internal/") && path.Base(where) != "doc.go":
			t.Errorf("package %s is described in %s, not in its doc.go, where readers look", pkg, where)
		}
	}
}
