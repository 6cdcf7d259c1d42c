package archtest

import (
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// layer is a part of the tree and what it may import of the module beside itself.
type layer struct {
	dir    string
	may    []string
	others bool // modules other than ours and the standard library
	why    string
}

const (
	domainDir   = "internal/domain"
	portsDir    = "internal/ports"
	protocolDir = "internal/protocol"
	wireDir     = "internal/protocol/wire"
	appDir      = "internal/app"
	adaptersDir = "internal/adapters"
	testkitDir  = "internal/testkit"
	talkDir     = "internal/talk"
)

// layers are in the order of their depth; the first that holds a package counts.
var layers = []layer{
	{wireDir, nil, true, "the schema is bytes, and knows nothing of what they mean"},
	{domainDir, []string{domainDir}, false, "the domain is values and rules: it must be testable, and true, without the world"},
	{protocolDir, []string{domainDir}, false, "typed messages outlive every codec: they know the domain and no encoding"},
	{portsDir + "/porttest", []string{domainDir, protocolDir, portsDir}, true, "a port's suite knows the port, not who implements it"},
	{portsDir, []string{domainDir, protocolDir}, false, "a port is named for what the core wants: it knows the core's words and no technology"},
	{appDir, []string{domainDir, protocolDir, portsDir, "streambus"}, false, "a service reaches the world through ports; which adapter answers is decided in cmd"},
	{adaptersDir, []string{domainDir, protocolDir, portsDir}, true, "an adapter turns one outside thing into a port; it must not know who uses it"},
	{talkDir, []string{domainDir, protocolDir, portsDir, adaptersDir}, false, "it puts adapters together into the way of a caller, and knows no service and no command"},
	{testkitDir, []string{"."}, true, ""},
	{"client", []string{domainDir, protocolDir, portsDir, talkDir}, false, "a public library: what it reaches the world with is the way of every caller"},
	{"internal/mcp", []string{"client", domainDir}, true, "it is a caller like every other: what it does goes through package client"},
	{"streambus", []string{"streambus"}, true, "a public library stands alone: others import it without vev"},
	{"durable", []string{"durable"}, true, "a public library stands alone: others import it without vev"},
	{"cmd", []string{"."}, true, ""},
	{"test", []string{"."}, true, ""},
	{"tools", []string{"tools"}, true, "a tool works on the source and must run when the source does not build"},
}

// stack is the protocol stack, and below all of it the descriptors that bytes come from: the only siblings that import each
// other, downwards.
var stack = map[string][]string{
	adaptersDir + "/pty":         {adaptersDir + "/descriptor"},
	adaptersDir + "/tty":         {adaptersDir + "/descriptor"},
	adaptersDir + "/sshstdio":    {adaptersDir + "/descriptor"},
	adaptersDir + "/streamframe": {adaptersDir + "/descriptor"},
	adaptersDir + "/brokeripc":   {adaptersDir + "/brokerwire", adaptersDir + "/streamframe", adaptersDir + "/descriptor"},
	adaptersDir + "/brokerwire":  {adaptersDir + "/streamframe"},
	adaptersDir + "/sessionwire": {adaptersDir + "/streamframe", adaptersDir + "/descriptor"},
	adaptersDir + "/quic":        {adaptersDir + "/brokerwire"},
}

// codecs are the packages that turn messages into bytes.
var codecs = []string{
	adaptersDir + "/streamframe", adaptersDir + "/brokerwire", adaptersDir + "/brokeripc", adaptersDir + "/sessionwire",
}

// tables are modules that hold nothing but the tables and arithmetic of a standard, and are
// therefore allowed in the domain.
var tables = []string{"github.com/clipperhouse/uax29/v2/graphemes"}

func layerOf(pkg string) (layer, bool) {
	i := slices.IndexFunc(layers, func(l layer) bool { return under(pkg, l.dir) })
	if i < 0 {
		return layer{}, false
	}
	return layers[i], true
}

// unit is what counts as one package of app and adapters: the folder and what is below it.
func unit(pkg string) string {
	for _, dir := range []string{appDir, adaptersDir} {
		if under(pkg, dir) {
			for path.Dir(pkg) != dir && path.Dir(pkg) != "." {
				pkg = path.Dir(pkg)
			}
		}
	}
	return pkg
}

// refuse says why pkg must not import imported; "" if it may.
func refuse(pkg, imported string) string {
	l, ok := layerOf(pkg)
	if !ok {
		return "its place in the tree is not on the map: see internal/testkit/archtest"
	}
	to := local(imported)
	switch {
	case to == "" && under(pkg, domainDir) && slices.Contains(tables, imported):
		return ""
	case to == "" && !isStandard(imported) && !l.others:
		return l.why + "; so it uses the standard library alone"
	case to == "" || unit(to) == unit(pkg):
		return ""
	case under(to, testkitDir) && (under(pkg, testkitDir) || under(pkg, "test")):
		return ""
	case under(to, testkitDir) || to == portsDir+"/porttest":
		return "it is for tests only"
	case under(to, wireDir):
		if slices.Contains(codecs, unit(pkg)) {
			return ""
		}
		return "only the codecs know the generated code; everybody else speaks package protocol"
	case slices.Contains(l.may, "."):
		return ""
	case slices.ContainsFunc(l.may, func(dir string) bool { return under(to, dir) }):
		return ""
	case slices.Contains(stack[unit(pkg)], unit(to)):
		return ""
	case under(pkg, adaptersDir) && under(to, adaptersDir):
		return "adapters do not know each other, except down the protocol stack: they are put together in cmd"
	case under(pkg, appDir) && under(to, appDir):
		return "services meet through ports only, so that any two can share a process or not"
	}
	return l.why
}

func TestImportRule(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.generator() {
			continue
		}
		for _, imported := range s.imports {
			if why := refuse(s.pkg, imported); why != "" {
				t.Errorf("%s must not import %s: %s", s.path, imported, why)
			}
		}
	}
}

// The rule itself: what it forbids is forbidden, what it allows is not.
func TestTheRuleRefuses(t *testing.T) {
	const m = module + "/"
	for _, c := range []struct {
		pkg, imported string
		refused       bool
	}{
		{"internal/domain/vt", m + "internal/domain", false},
		{"internal/domain", m + "internal/ports", true},
		{"internal/domain/vt", "golang.org/x/text/width", true},
		{"internal/domain/vt", "strings", false},
		{"internal/domain/vt", "github.com/clipperhouse/uax29/v2/graphemes", false},
		{"internal/app/client", "github.com/clipperhouse/uax29/v2/graphemes", true},
		{"internal/ports", m + "internal/protocol", false},
		{"internal/ports", m + "internal/protocol/wire", true},
		{"internal/ports", m + "internal/app/client", true},
		{"internal/protocol", m + "internal/ports", true},
		{"internal/protocol", "google.golang.org/protobuf/proto", true},
		{"internal/protocol/wire", "google.golang.org/protobuf/proto", false},
		{"internal/app/client", m + "internal/ports", false},
		{"internal/app/client", m + "internal/app/daemon", true},
		{"internal/app/client", m + "internal/adapters/tty", true},
		{"internal/app/client", m + "internal/testkit/simnet", true},
		{"internal/app/client/view", m + "internal/app/client", false},
		{"internal/app/daemon", m + "streambus", false},
		{"internal/domain", m + "streambus", true},
		{"internal/adapters/tty", m + "internal/app/client", true},
		{"internal/adapters/tty", m + "internal/adapters/pty", true},
		{"internal/adapters/tty", m + "internal/adapters/descriptor", false},
		{"internal/adapters/descriptor", m + "internal/adapters/tty", true},
		{"internal/adapters/tty", m + "internal/protocol/wire", true},
		{"internal/adapters/tty", "golang.org/x/sys/unix", false},
		{"internal/adapters/sessionwire", m + "internal/adapters/streamframe", false},
		{"internal/adapters/sessionwire", m + "internal/adapters/brokerwire", true},
		{"internal/adapters/streamframe", m + "internal/adapters/sessionwire", true},
		{"internal/adapters/sessionwire", m + "internal/protocol/wire", false},
		{"cmd/vev", m + "internal/adapters/pty", false},
		{"cmd/vev", m + "internal/app/client", false},
		{"cmd/vev", m + "internal/protocol/wire", true},
		{"cmd/vev", m + "internal/testkit/ptytest", true},
		{"internal/testkit/netlab", m + "internal/testkit/simnet", false},
		{"test/bench", m + "internal/testkit/netlab", false},
		{"streambus", m + "internal/domain", true},
		{"internal/talk", m + "internal/adapters/rundir", false},
		{"internal/talk", m + "internal/app/client", true},
		{"internal/adapters/tty", m + "internal/talk", true},
		{"client", m + "internal/talk", false},
		{"client", m + "internal/adapters/rundir", true},
		{"internal/mcp", m + "client", false},
		{"internal/mcp", m + "internal/talk", true},
		{"somewhere/else", "fmt", true},
	} {
		require.Equal(t, c.refused, refuse(c.pkg, c.imported) != "", "%s imports %s", c.pkg, c.imported)
	}
}
