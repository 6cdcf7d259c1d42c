//go:build linux

package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// pair is one program run twice: on a terminal of its own, and in a session of vev on another. The same keys go to both,
// and both terminals have to come to show the same.
type pair struct {
	t               *testing.T
	direct, through *term
	runs            [2]*program
}

// twice starts argv(0) directly and argv(1) through vev; the number keeps their files apart.
func twice(t *testing.T, h *home, cols, rows int, argv func(i int) []string) *pair {
	t.Helper()
	p := &pair{t: t, direct: newTerm(t, cols, rows), through: newTerm(t, cols, rows)}
	h = h.with("COLORTERM=truecolor")
	cmd := exec.Command(argv(0)[0], argv(0)[1:]...)
	cmd.Env, cmd.Dir = h.env, h.dir
	p.runs[0] = p.direct.start(cmd)
	p.runs[1] = p.through.vev(h, append([]string{"new", "through", "--"}, argv(1)...)...)
	return p
}

// same waits until the direct terminal shows mark, the last thing that a step draws, and both show the same.
func (p *pair) same(mark string) {
	p.t.Helper()
	p.direct.sees(mark)
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		a, changedA := p.direct.watch()
		b, changedB := p.through.watch()
		if a == b {
			return
		}
		select {
		case <-changedA:
		case <-changedB:
		case <-late.C:
			p.t.Fatalf("after %q the two differ:\n%s", mark, differences(a, b))
		}
	}
}

// watch returns what is to be compared, and a channel that is closed at the next change.
func (tt *term) watch() (view string, changed <-chan struct{}) {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	s := shoot(tt.screen)
	// How vev's client draws on a terminal is its own affair: on the alternate screen, without automatic wrap, so that
	// the wheel sends arrows only where the program would get them, and asked for its focus and for brackets around pastes.
	s.modes.Alternate, s.modes.Autowrap, s.modes.AltScroll, s.modes.FocusEvents = false, false, false, false
	s.modes.BracketedPaste = false
	if !s.cursor.Visible {
		s.cursor.Row, s.cursor.Col = 0, 0
	}
	return fmt.Sprintf("%s\ncursor %+v\nmodes %v", strings.Join(s.rows, "\n"), s.cursor, s.modes.Names()), tt.changed
}

// differences are the lines of a and b that are not the same.
func differences(a, b string) string {
	var out strings.Builder
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(as), len(bs)) {
		line := func(s []string) string {
			if i < len(s) {
				return s[i]
			}
			return "(nothing)"
		}
		if line(as) != line(bs) {
			fmt.Fprintf(&out, "row %d\n  direct  %s\n  through %s\n", i+1, line(as), line(bs))
		}
	}
	return out.String()
}

func (p *pair) typ(keys string) {
	p.t.Helper()
	p.direct.typ(keys)
	p.through.typ(keys)
}

// resize gives both another size and waits until the programs have drawn for it: a key must not overtake the signal.
func (p *pair) resize(cols, rows int) {
	p.t.Helper()
	before := p.direct.got()
	p.direct.resize(cols, rows)
	p.through.resize(cols, rows)
	p.direct.until("drawing for the new size", func(*vt.Terminal) bool { return p.direct.total > before })
	p.same("")
}

// end types keys that end both, and compares how they ended.
func (p *pair) end(keys string) {
	p.t.Helper()
	p.typ(keys)
	require.Equal(p.t, p.runs[0].exits(), p.runs[1].exits(), "the status")
}

// wideText is a text of many scripts, wide characters, combining marks and colours.
func wideText() string {
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "%03d \x1b[%dmplain ascii\x1b[m 测试宽字符 e\u0301galite\u0301 \x1b[1;4mbold\x1b[m \u2500\u2502\u253c \x1b[38;2;%d;90;200mtrue\x1b[m \x1b[48;5;%dmback\x1b[m 😀 end%d\n",
			i, 31+i%6, i, i, i)
	}
	return text.String()
}

func TestThroughLess(t *testing.T) {
	less := need(t, "less")
	h := newHome(t).with("LESSHISTFILE=-", "LESSCHARSET=utf-8")
	file := h.write("wide.txt", []byte(wideText()))
	p := twice(t, h, 80, 24, func(int) []string { return []string{less, "-R", file} })
	p.same("end10")
	p.typ(" ")
	p.same("end30")
	p.typ("G")
	p.same("end199")
	p.typ("?end1[0]$\r")
	p.same("end10")
	p.resize(60, 30)
	p.typ("g")
	p.same("000")
	p.typ("-S")
	p.same("Chop long lines")
	p.typ("\r")
	p.same(":")
	p.typ("\x1b[C")
	p.same(">")
	p.resize(100, 20)
	p.typ("g")
	p.same("000")
	p.end("q")
}

func TestThroughVim(t *testing.T) {
	vim := need(t, "vim")
	h := newHome(t)
	h.write("code.c", []byte("#include <stdio.h>\n\nint main(void) {\n\tprintf(\"hello\\n\"); /* 测试 */\n\treturn 0;\n}\n"+strings.Repeat("// more\n", 60)))
	p := twice(t, h, 80, 24, func(int) []string {
		return []string{vim, "-u", "NONE", "-N", "-n", "-i", "NONE", "-c", "syntax on", "-c", "set number laststatus=2", "code.c"}
	})
	p.same("hello")
	p.typ("ggOline one 測試\x1b")
	p.same("line one")
	p.typ(":vsplit\r")
	p.typ("\x04") // half a page
	p.same("// more")
	p.typ("\x17wVjjd")
	p.same("// more")
	p.typ(":set list hlsearch\r/more\r")
	p.same("/more")
	p.resize(100, 30)
	p.typ("gg:echo 'al'.'ive'\r")
	p.same("alive")
	p.resize(70, 18)
	p.typ(":echo 'stil'.'l'\r")
	p.same("still")
	p.end(":qa!\r")
}

func TestThroughGitLog(t *testing.T) {
	git := need(t, "git")
	need(t, "less")
	h := newHome(t).with("GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LESSHISTFILE=-")
	run := func(args ...string) {
		cmd := exec.Command(git, append([]string{"-C", h.dir, "-c", "user.name=Ünï Tester", "-c", "user.email=t@example.org"}, args...)...)
		cmd.Env = h.env
		a := finish(t, cmd)
		require.Zero(t, a.code, "git %v: %s", args, a.stderr)
	}
	run("init", "-q", "-b", "main")
	for i := range 15 {
		h.write("file", []byte(fmt.Sprintf("version %d\nconstant\n%s\n", i, strings.Repeat("x", i))))
		run("add", "file")
		run("commit", "-q", "-m", fmt.Sprintf("change %d: 测试 and more text that makes a line longer than the screen is wide, so that it wraps", i))
	}
	p := twice(t, h, 80, 24, func(int) []string {
		return []string{git, "-c", "core.pager=less -R", "log", "--color=always", "--graph", "-p"}
	})
	p.same("change 14")
	p.typ(" ")
	p.same("version")
	p.typ("G")
	p.same("(END)")
	p.typ("?change 3\r")
	p.same("change 3")
	p.end("q")
}

func TestThroughFzf(t *testing.T) {
	fzf := need(t, "fzf")
	h := newHome(t)
	p := twice(t, h, 80, 24, func(int) []string {
		return []string{"sh", "-c", "seq 1 2000 | " + fzf + " --multi --border --preview 'echo chosen {}' --bind ctrl-g:abort"}
	})
	p.same("2000/2000")
	p.typ("77")
	p.same("chosen 77")
	p.typ("\x1b[A\x1b[A\t")
	p.same("(1)")
	p.resize(100, 30)
	p.typ("1")
	p.same("chosen 1771")
	p.end("\x07")
}

func TestThroughTmux(t *testing.T) {
	tmux := need(t, "tmux")
	h := newHome(t)
	conf := h.write("tmux.conf", []byte("set -g status-right ''\nset -g status-left 'S '\nset -g default-command sh\nset -g automatic-rename off\nset -g escape-time 0\nset -g assume-paste-time 0\n"))
	sock := func(i int) string { return filepath.Join(h.dir, fmt.Sprintf("tmux%d", i)) }
	p := twice(t, h, 80, 24, func(i int) []string { return []string{tmux, "-S", sock(i), "-f", conf, "new", "-s", "x", "-n", "w"} })
	p.same("$")
	p.typ("seq 1 100; echo en''d\r")
	p.same("end")
	p.typ("\x02%")
	p.same("│$")
	p.typ("printf '\\033[31;1mred 测试\\033[m\\n'; echo rig''ht\r")
	p.same("right")
	p.typ("\x02\"")
	p.direct.until("a prompt in the third pane", func(s *vt.Terminal) bool { return s.Cursor().Row > 11 && s.Cursor().Col == 43 })
	p.same("─")
	p.resize(110, 30)
	p.typ("echo thi''rd\r")
	p.same("third")
	p.typ("\x02z")
	p.same("*Z")
	p.typ("\x02[")
	p.same("[0/")
	p.typ("q")
	p.direct.lacks("[0/")
	p.same("*Z")
	p.typ("\x02:")
	p.same("\n:") // what is typed before the prompt is there is lost in tmux
	p.end("kill-server\r")
}

// TestThroughShell is readline: editing, completion, a prompt with colours, a line longer than the screen.
func TestThroughShell(t *testing.T) {
	bash := need(t, "bash")
	h := newHome(t).with("HISTFILE=/dev/null", "INPUTRC=/dev/null", `PS1=\[\033[1;32m\]prompt\[\033[m\]$ `)
	p := twice(t, h, 60, 20, func(int) []string { return []string{bash, "--norc", "--noprofile", "-i"} })
	p.same("prompt$")
	p.typ("echo " + strings.Repeat("long ", 20))
	p.same("long long")
	p.typ("\x01\x1b[C\x1b[C\x0b\x19\x7f\x7f#")
	p.same("#")
	p.typ("\x15ls --color=always /; echo do''ne\r")
	p.same("done")
	p.typ("\x12echo")
	p.same("reverse-i-search")
	p.typ("\x07")
	p.resize(90, 25)
	p.typ("clear; echo cle''ared\r")
	p.same("cleared")
	p.end("exit 5\r")
}

// scenes are screens of a program that uses what curses programs do; each ends with its name in the last column of some
// row, so that it is known to be complete.
var scenes = []string{
	// colours, attributes, all kinds of underlines
	`\033[2J\033[H\033[1mbold\033[2mdim\033[m \033[3mitalic\033[m \033[4:3;58:2::250:10:10mcurly\033[m \033[7minverse\033[m \033[9mstrike\033[m \033[53mover\033[m\r\n` +
		`\033[38;5;208mindexed\033[48;2;1;2;3mdirect\033[m\033[91;102mbright\033[m\033[41m\033[K\033[m`,
	// scroll region with lines going both ways, the rest standing
	`\033[2J\033[3;10r\033[3;1Ha\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\r\nh\r\ni\r\nj\033[3;1H\033M\033M\033[5;1H\033[2L\033[7;1H\033[M\033[r\033[20;5Hbelow`,
	// inserting and deleting with wide characters at the edges
	`\033[2J\033[1;1Habcdefgh\033[1;3H\033[2@xy\033[2;79H测测\033[4;1H一二三\033[4;2H\033[P\033[5;1H一二三\033[5;3H\033[@\033[6;1HABC\033[5b\033[7;1Habc\033[1K`,
	// line drawing, tabs, a cursor that waits at the margin
	`\033[2J\033[H\033(0lqqqk\r\nx   x\r\nmqqqj\033(B\ttab\ttab\033[10;80HX\033[11;79H\033[?7labcdef\033[?7h`,
	// cursor shapes and modes
	`\033[2J\033[5 q\033[?1h\033=\033[?2004h\033[?1002;1006h\033[?1004hshape`,
	`\033[2J\033[2 q\033[?25lhidden\033[?1l\033>\033[?2004l\033[?1002;1006l\033[?1004l`,
	// combining marks, flags, joined emoji, links
	`\033[2J\033[?25he\314\201 \360\237\207\251\360\237\207\252 \360\237\221\251\342\200\215\360\237\222\273 \342\232\240\357\270\217| \033]8;;http://example.org/\033\\link\033]8;;\033\\ end`,
	// the main screen and its scroll, back from the alternate one
	`\033[?1049l\r\n` + strings.Repeat(`line\r\n`, 30),
}

func TestThroughScenes(t *testing.T) {
	h := newHome(t)
	script := "stty raw -echo; printf '\\033[?1049h'\n"
	for i, scene := range scenes {
		script += fmt.Sprintf("printf '%s'; printf '\\0337\\033[m\\033[23;70Hscene%d\\0338'; dd bs=1 count=1 2>/dev/null >/dev/null\n", strings.ReplaceAll(scene, "%", "%%"), i)
	}
	h.write("scenes.sh", []byte(script))
	p := twice(t, h, 80, 24, func(int) []string { return []string{"sh", "scenes.sh"} })
	for i := range scenes {
		p.same(fmt.Sprintf("scene%d", i))
		p.typ(" ")
	}
	p.end("")
}
