package vt

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sequence is one key of the table in the package's documentation.
type sequence struct {
	key            string // "CSI ? J"
	effect         string // those of changes, answers and event, joined by commas; or nothing
	setup, example string
}

var (
	tableColumns = regexp.MustCompile(` {2,}`)
	tableEffects = regexp.MustCompile(`^(nothing|(changes|answers|event)(,(answers|event))?)$`)
)

// sequenceTable reads the table of doc.go: an entry for each key of each row.
func sequenceTable(tb testing.TB) []sequence {
	b, err := os.ReadFile("doc.go")
	require.NoError(tb, err)
	var table []sequence
	for line := range strings.Lines(string(b)) {
		if row, ok := strings.CutPrefix(strings.TrimSpace(line), "//\t"); ok {
			table = append(table, readRow(tb, row)...)
		}
	}
	require.Greater(tb, len(table), 300)
	return table
}

func readRow(tb testing.TB, row string) []sequence {
	columns := tableColumns.Split(row, -1)
	at := slices.IndexFunc(columns, tableEffects.MatchString)
	require.True(tb, at >= 1 && at+1 < len(columns), "a row without effect or example: %s", row)
	setup, example, found := strings.Cut(columns[at+1], " | ")
	if !found {
		setup, example = "", setup
	}
	var out []sequence
	common := "" // what precedes the first of several keys precedes all
	for item := range strings.SplitSeq(columns[0], ", ") {
		if i := strings.LastIndexByte(item, ' '); i >= 0 {
			common, item = item[:i+1], item[i+1:]
		}
		value := strings.ReplaceAll(item, "SP", " ")
		if common == "SGR " {
			value, _, _ = strings.Cut(value, "-")
		}
		out = append(out, sequence{
			key: strings.TrimSpace(common + item), effect: columns[at],
			setup: unescape(tb, setup, value), example: unescape(tb, example, value),
		})
	}
	return out
}

// unescape reads a Go string without its quotes, with \e for ESC and {} for value.
func unescape(tb testing.TB, s, value string) string {
	s = strings.NewReplacer("{}", value, `\e`, `\x1b`).Replace(s)
	out, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	require.NoError(tb, err, s)
	return out
}

// dispatchers are the functions that tell sequences apart, with the table's name for what they act on.
var dispatchers = []struct{ function, family string }{
	{"control", "C0"},
	{"escapeFinal", "ESC"},
	{"csiPlain", "CSI"},
	{"csiEdit", "CSI"},
	{"csiState", "CSI"},
	{"csiPrivate", "CSI ?"},
	{"csiPrefixed", "CSI"},
	{"csiWith", "CSI"},
	{"request", "CSI"},
	{"rectangle", "CSI"},
	{"osc", "OSC"},
	{"keepsDCS", "DCS"},
	{"deviceStatus", "DSR"},
	{"privateStatus", "DSR ?"},
	{"windowOperation", "XTWINOPS"},
	{"requestStatus", "DECRQSS"},
	{"ansiMode", "MODE"},
	{"setANSIMode", "MODE"},
	{"decMode", "MODE ?"},
	{"flagMode", "MODE ?"},
	{"setDECMode", "MODE ?"},
	{"setScreenMode", "MODE ?"},
	{"sgr", "SGR"},
	{"rendition", "SGR"},
	{"attribute", "SGR"},
}

// nested are entries behind a condition rather than a case.
var nested = []string{"ESC (", "ESC )", "ESC *", "ESC +", "ESC -", "ESC .", "ESC /", "ESC # 8"}

// dispatched returns the keys that the code tells apart.
func dispatched(tb testing.TB) map[string]bool {
	files, err := os.ReadDir(".")
	require.NoError(tb, err)
	functions := map[string]*ast.FuncDecl{}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := goparser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		require.NoError(tb, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				functions[f.Name.Name] = f
			}
		}
	}
	keys := map[string]bool{}
	for _, key := range nested {
		keys[key] = true
	}
	for _, d := range dispatchers {
		f := functions[d.function]
		require.NotNil(tb, f, "no function %s", d.function)
		found := 0
		ast.Inspect(f.Body, func(n ast.Node) bool {
			s, ok := n.(*ast.SwitchStmt)
			if !ok {
				return true
			}
			for _, clause := range s.Body.List {
				for _, e := range clause.(*ast.CaseClause).List {
					keys[keyOf(tb, d.family, e)] = true
					found++
				}
			}
			return false // a switch within tells parameters apart
		})
		require.NotZero(tb, found, "no case in %s", d.function)
	}
	return keys
}

// keyOf returns the table's key for a case.
func keyOf(tb testing.TB, family string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		switch {
		case e.Kind != token.INT:
			s, err := strconv.Unquote(e.Value)
			require.NoError(tb, err)
			return keyFor(family, s)
		case family == "C0":
			n, err := strconv.ParseUint(e.Value, 0, 8)
			require.NoError(tb, err)
			return keyFor(family, string(rune(n)))
		}
		return keyFor(family, e.Value)
	case *ast.BinaryExpr: // v == n, or v >= n && v <= m
		if e.Op == token.EQL {
			return keyOf(tb, family, e.Y)
		}
		return keyOf(tb, family, e.X.(*ast.BinaryExpr).Y) + "-" + e.Y.(*ast.BinaryExpr).Y.(*ast.BasicLit).Value
	}
	tb.Fatalf("a case of %s that is no literal", family)
	return ""
}

func keyFor(family, s string) string {
	switch family {
	case "C0":
		return family + " " + strconv.FormatInt(int64(s[0])+0x100, 16)[1:]
	case "CSI", "DCS":
		return strings.ReplaceAll(family+" "+strings.Join(strings.Split(s, ""), " "), "   ", " SP ")
	case "DECRQSS":
		return family + " " + strings.ReplaceAll(s, " ", "SP")
	case "MODE ?", "DSR ?":
		return family + s
	}
	return family + " " + s
}

// TestTableIsTheDispatch: the table names what the code tells apart, and nothing else as having an effect.
func TestTableIsTheDispatch(t *testing.T) {
	inCode, inTable := dispatched(t), map[string]bool{}
	for _, s := range sequenceTable(t) {
		if s.effect == "nothing" {
			delete(inCode, s.key) // told apart to do nothing
		} else {
			inTable[s.key] = true
		}
	}
	missing := slices.Sorted(maps.Keys(inCode))
	missing = slices.DeleteFunc(missing, func(k string) bool { return inTable[k] })
	require.Empty(t, missing, "in the code but not in the table")
	extra := slices.Sorted(maps.Keys(inTable))
	extra = slices.DeleteFunc(extra, func(k string) bool { return inCode[k] })
	require.Empty(t, extra, "in the table but not in the code")
}

// ground is a state in which every sequence of the table has something to do.
const ground = "\x1b]2;first\x07\x1b[22t\x1b]2;second\x07" + // a title and a stack of titles
	"one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\n" + // history
	"\x1b[2;2H\x1b[1;3;4;5;7;8;9;53;33;44;58;5;6m\x1b7" +
	"\x1b[1;3H\x1b[1\"qprotected\x1b[0\"q \x1b[0;32mplain\x1b]8;;http://link\x07link\x1b]8;;\x07 宽" +
	"\x1b]4;1;#123;2;#234;9;#345\x07\x1b]5;0;#123\x07" +
	"\x1b]10;#456;#567;#678;#789;#89a\x07\x1b]17;#9ab\x07\x1b]19;#abc\x07\x1b[#P\x1b]4;1;#fff\x07" +
	"\x1b[>1u\x1b[#{\x1b[?2004h\x1b[?2004s\x1b[?2004l" +
	"\x1b[0;31m\x1b[3;3H"

func grounded(setup string) *Terminal {
	tm := New(Options{Cols: 20, Rows: 6, HistoryLines: 20})
	tm.Write([]byte(ground + setup))
	tm.TakeReplies()
	tm.TakeEvents()
	return tm
}

// effect returns what tells apart a terminal from one that was fed less, in the table's words.
func effect(was, is *Terminal) string {
	var effects []string
	if !reflect.DeepEqual(bare(was), bare(is)) {
		effects = append(effects, "changes")
	}
	if len(is.TakeReplies()) > 0 {
		effects = append(effects, "answers")
	}
	if len(is.TakeEvents()) > 0 {
		effects = append(effects, "event")
	}
	if effects == nil {
		return "nothing"
	}
	return strings.Join(effects, ",")
}

// bare returns the terminal without what is no state: versions, answers, events and what they are made from.
func bare(t *Terminal) Terminal {
	c := *t
	c.scr, c.rows, c.par, c.tables.key, c.scratch = nil, nil, parser{}, nil, nil
	c.stamp, c.version, c.gen, c.nextID, c.work, c.changed, c.joinable, c.lastRune = 0, 0, 0, 0, 0, false, false, 0
	c.replies, c.events, c.cwd, c.lastProgress, c.statuses = nil, eventQueue{}, "", Progress{}, statuses{}
	c.shown = visible{modes: t.Modes()}
	c.hist.packed, c.hist.spare = nil, nil
	for _, rows := range []*[]*Row{&c.main.rows, &c.main.below, &c.alt.rows} {
		copies := make([]*Row, len(*rows))
		for i, r := range *rows {
			row := *r
			row.ver, row.id = 0, 0
			copies[i] = &row
		}
		*rows = copies
	}
	return c
}

// TestTableExamples: each example of the table has the effect that it says, under every split.
func TestTableExamples(t *testing.T) {
	for _, s := range sequenceTable(t) {
		t.Run(s.key+" "+s.effect, func(t *testing.T) {
			whole, cut := grounded(s.setup), grounded(s.setup)
			whole.Write([]byte(s.example))
			for i := range len(s.example) {
				cut.Write([]byte(s.example[i : i+1]))
			}
			require.Equal(t, snap(whole), snap(cut))
			whole = grounded(s.setup)
			whole.Write([]byte(s.example))
			require.Equal(t, stGround, whole.par.state, "%q is whole", s.example)
			require.Equal(t, s.effect, effect(grounded(s.setup), whole), "%q", s.example)
		})
	}
}

// TestModesAreKnown: DECRQM tells of every mode of the table whether it is set, and what setting and resetting it did.
func TestModesAreKnown(t *testing.T) {
	for _, s := range sequenceTable(t) {
		number, ok := strings.CutPrefix(s.key, "MODE ")
		if !ok {
			continue
		}
		states := ""
		for _, change := range []string{"", "h", "l"} {
			tm := New(Options{Cols: 20, Rows: 6})
			tm.Write([]byte("ab"))
			if change != "" {
				tm.Write([]byte("\x1b[" + number + change))
			}
			tm.TakeReplies()
			tm.Write([]byte("\x1b[" + number + "$p"))
			answer := string(tm.TakeReplies())
			require.True(t, strings.HasPrefix(answer, "\x1b["+number+";") && strings.HasSuffix(answer, "$y"), "%q", answer)
			states += answer[len(answer)-3 : len(answer)-2]
		}
		switch {
		case s.effect == "answers" || number == "?3":
			require.Contains(t, []string{"333", "444"}, states, number)
		case number == "?1048":
			require.Equal(t, "212", states, "it is set while a cursor is saved")
		default:
			require.Contains(t, []string{"112", "212"}, states, number)
		}
	}
}

// TestNothingButTheTable: what the table does not name has no effect, whatever its parameters.
func TestNothingButTheTable(t *testing.T) {
	known := map[string]bool{}
	for _, s := range sequenceTable(t) {
		known[s.key] = known[s.key] || s.effect != "nothing"
	}
	var unknown []sequence
	silent := func(key, in string) {
		if !known[key] {
			unknown = append(unknown, sequence{key: key, example: in})
		}
	}
	all := func(before, after string) string { // with some parameters
		return before + after + before + "1" + after + before + "2;1" + after + before + "3;3;5;5;1;2;2" + after
	}
	for final := byte(0x40); final < 0x7f; final++ {
		for _, prefix := range []string{"", "?", ">", "=", "<"} {
			key := prefix
			in := "\x1b[" + prefix
			silent(keyFor("CSI", key+string(final)), all(in, string(final)))
			for inter := byte(0x20); inter < 0x30; inter++ {
				silent(keyFor("CSI", key+string([]byte{inter, final})), all(in, string([]byte{inter, final})))
				if prefix == "" {
					silent(keyFor("DCS", string([]byte{inter, final})), "\x1bP1"+string([]byte{inter, final})+"1;2\x1b\\")
				}
			}
			silent(keyFor("DCS", key+string(final)), "\x1bP"+prefix+"1"+string(final)+"1;2\x1b\\")
		}
	}
	for final := byte(0x30); final < 0x7f; final++ {
		if !strings.ContainsRune("[]PX^_", rune(final)) {
			silent(keyFor("ESC", string(final)), "\x1b"+string(final))
		}
		for inter := byte(0x20); inter < 0x30; inter++ {
			if key := "ESC " + string(inter); !known[key] {
				silent(key+" "+string(final), "\x1b"+string([]byte{inter, final}))
			}
		}
	}
	for n := range 10_000 {
		number := strconv.Itoa(n)
		silent("OSC "+number, "\x1b]"+number+";?\x07\x1b]"+number+";1\x07\x1b]"+number+"\x07")
		if n < 2100 {
			silent("MODE ?"+number, "\x1b[?"+number+"h\x1b[?"+number+"l")
			silent("MODE "+number, "\x1b["+number+"h\x1b["+number+"l")
			silent("DSR "+number, "\x1b["+number+"n")
			silent("DSR ?"+number, "\x1b[?"+number+"n")
			silent("XTWINOPS "+number, "\x1b["+number+";1;1t")
		}
	}
	require.Greater(t, len(unknown), 20_000)
	for group := range slices.Chunk(unknown, 500) {
		if unheard(group) {
			continue
		}
		for _, s := range group {
			require.True(t, unheard([]sequence{s}), "%s is not in the table: %q", s.key, s.example)
		}
		t.Error("sequences without an effect that have one together")
	}
}

// unheard reports whether the sequences, one behind the other, have no effect.
func unheard(group []sequence) bool {
	is := grounded("")
	for _, s := range group {
		is.Write([]byte(s.example))
	}
	return effect(grounded(""), is) == "nothing"
}
