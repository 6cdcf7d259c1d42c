package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/vev-term/vev"

// root is the checkout, seen from this package.
const root = "../../.."

// source is one Go file.
type source struct {
	path    string // from the root, with slashes
	pkg     string // its directory
	test    bool
	file    *ast.File
	imports []string
}

var fset = token.NewFileSet()

// sources are all Go files of the checkout.
func sources(t *testing.T) []*source {
	t.Helper()
	all, err := parsed()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// parsed reads them once for all tests.
var parsed = sync.OnceValues(func() (all []*source, err error) {
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(p, root+string(filepath.Separator)))
		if d.IsDir() {
			if name := d.Name(); p != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		s, err := parse(p, rel)
		all = append(all, s)
		return err
	})
	return all, err
})

func parse(p, rel string) (*source, error) {
	f, err := parser.ParseFile(fset, p, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &source{path: rel, pkg: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"), file: f}
	for _, i := range f.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		s.imports = append(s.imports, name)
	}
	return s, nil
}

// generator reports whether s is of a program that writes tables into its parent package: it
// stands there to be found, and is part of no build.
func (s *source) generator() bool {
	return under(s.pkg, "internal") && s.file.Name.Name == "main"
}

// under reports whether pkg is dir or below it.
func under(pkg, dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }

// local is an import within the module, from the root; "" for others.
func local(imported string) string {
	if imported == module {
		return "."
	}
	rest, ok := strings.CutPrefix(imported, module+"/")
	if !ok {
		return ""
	}
	return rest
}

// isStandard reports whether an import is of the standard library.
func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// at is the place of a node, as compilers write it.
func at(s *source, n ast.Node) string {
	return s.path + ":" + strconv.Itoa(fset.Position(n.Pos()).Line)
}

// read is a file of the checkout.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(b)
}
