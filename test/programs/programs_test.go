//go:build linux

package programs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/testkit/ptytest"
)

// TestPrograms runs each program, checks what is known of its screens, replays what it wrote, and has the screens judged
// by other terminals: what they make of the program's bytes, and of what a painter writes for the same screens.
func TestPrograms(t *testing.T) {
	var judged []*recording
	for _, p := range []struct {
		name string
		run  func(t *testing.T) *recording
	}{
		{"vim", vim},
		{"vim-resized", vimResized},
		{"less", less},
		{"htop", htop},
		{"tmux", tmuxInside},
		{"fzf", fzf},
		{"git-log", gitLog},
		{"man", man},
		{"progress", progress},
		{"agent", agent},
		{"cjk", cjk},
		{"emoji", emoji},
		{"urandom", urandom},
	} {
		t.Run(p.name, func(t *testing.T) {
			r := p.run(t)
			r.check(t)
			if r.foreign {
				if !r.margins {
					judgedByTmux(t, r)
				}
				judged = append(judged, r)
			}
			if !r.foreign && !r.disputed {
				return
			}
			for _, v := range viewers {
				if v.target == render.UserTerminal {
					painted := r.painted(v)
					judgedByTmux(t, painted)
					judged = append(judged, painted)
				}
			}
		})
	}
	t.Run("xterm", func(t *testing.T) { judgedByXterm(t, judged) })
}

// source is a file for editors and pagers.
func source() string {
	var b strings.Builder
	b.WriteString("package main\n\nimport \"fmt\"\n\n// main prints numbers, \"宽字\" too.\nfunc main() {\n")
	for i := range 100 {
		fmt.Fprintf(&b, "\tfmt.Println(%d, \"line number %d\")\n", i, i+7)
	}
	b.WriteString("}\n")
	return b.String()
}

func vimArgs(t *testing.T) []string {
	return []string{
		need(t, "vim"), "-u", "NONE", "-i", "NONE", "-n", "-N", "--cmd", "set ruler nowrap laststatus=2 shortmess=atIF nomodeline",
		"-c", "syntax on", file(t, "main.go", source()),
	}
}

func vim(t *testing.T) *recording {
	l := run(t, vimArgs(t))
	s := l.text("1,1")
	require.Contains(t, s.Lines[22], "main.go", "the status line")
	require.Equal(t, "package main", s.Lines[0])
	l.Type(":set number\r")
	l.see("numbers", func(s ptytest.Screen) bool { return strings.HasPrefix(s.Lines[6], "  7 ") && s.Cursor.Row == 0 })
	l.press("\x06", "22,") // a page
	l.press("\x05\x05\x05", "25,")
	l.press("/number 42\r", "42,")
	l.press(":vsplit\r", "main.go")
	l.see("two columns", func(s ptytest.Screen) bool { return strings.Contains(s.Lines[3], "|") })
	l.press("\x04", "53,") // scrolls one of the columns
	l.press("ggdd", "import")
	l.press("oinserted 宽字 text\x1b", "inserted 宽字 text")
	l.Type("V5j")
	l.text("VISUAL LINE")
	l.Type("\x1b:qa!\r")
	r := l.ends(0)
	require.NotContains(t, strings.Join(r.final.Lines, "\n"), "inserted", "the screen before is back")
	return r
}

func vimResized(t *testing.T) *recording {
	l := run(t, vimArgs(t))
	l.text("1,1")
	// It looks at keys once it has started, or has done with a size: a change before that it may miss.
	atRest := func() {
		l.press("l", "1,2")
		l.press("h", "1,1")
	}
	atRest()
	for _, s := range []domain.Size{{Cols: 60, Rows: 15}, {Cols: 100, Rows: 40}, size} {
		l.resize(s)
		l.see("the status line at the bottom", func(now ptytest.Screen) bool {
			return strings.Contains(now.Lines[s.Rows-2], "main.go") && now.Contains("1,1") && now.Cursor.Row == 0
		})
		atRest()
	}
	l.Type(":q\r")
	return l.ends(0)
}

func less(t *testing.T) *recording {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "%03d \x1b[%dmcolour\x1b[m %s\n", i+1, 31+i%6, strings.Repeat("text ", i%20))
	}
	l := run(t, []string{need(t, "less"), "-R", "-M", "-S", file(t, "numbers.txt", b.String())}, "LESS=", "LESSHISTFILE=-")
	s := l.text("numbers.txt lines 1-23/500")
	require.Equal(t, "001 colour", s.Lines[0])
	require.True(t, strings.HasPrefix(s.Lines[22], "023 colour"))
	require.Equal(t, 23, s.LineWith("numbers.txt"), "the status line is the last")
	l.press(" ", "lines 24-46/500")
	l.press("\n", "lines 25-47/500")
	l.press("k", "lines 24-46/500")
	l.press("/^300\n", "lines 300-322/500")
	s = l.press("G", "lines 478-500/500 (END)")
	require.True(t, strings.HasPrefix(s.Lines[22], "500 colour"))
	l.press("g", "lines 1-23/500")
	l.press("\x1b[C", "colour") // half a screen to the right and back
	l.press("q", "")
	return l.ends(0)
}

func htop(t *testing.T) *recording {
	l := run(t, []string{need(t, "htop"), "-d", "100"})
	s := l.text("F10")
	require.True(t, strings.HasPrefix(s.Lines[23], "F1"), "the keys are in the last row: %q", s.Lines[23])
	require.True(t, s.Contains("Load average"))
	l.press("\x1b[B\x1b[B", "F10")
	l.press("h", "CPU usage bar")
	l.press(" ", "F10")
	l.Type("q")
	return l.ends(0)
}

func tmuxInside(t *testing.T) *recording {
	dir := t.TempDir()
	conf := file(t, "tmux.conf", "set -g default-command 'exec sh'\nset -g status-right ''\nset -g escape-time 0\nset -g assume-paste-time 0\n")
	l := run(t, []string{need(t, "tmux"), "-S", filepath.Join(dir, "socket"), "-f", conf, "new-session", "-s", "inner"}, "SHELL=/bin/sh", "ENV=")
	l.see("the status line", func(s ptytest.Screen) bool { return strings.HasPrefix(s.Lines[23], "[inner] 0:sh*") })
	l.press("seq 100 130\r", "130")
	l.Type("\x02%")
	l.see("a border", func(s ptytest.Screen) bool { return strings.Contains(s.Lines[5], "│") })
	l.press("seq 500 540\r", "540")
	l.Type("\x02\"")
	l.see("a third pane", func(s ptytest.Screen) bool { return strings.Contains(s.Lines[11]+s.Lines[12], "──") })
	l.press("printf '宽字 \\033[7mreverse\\033[m\\n'\r", "宽字 reverse")
	l.press("\x02[", "[0/")
	l.Type("q")
	l.see("no copy mode", func(s ptytest.Screen) bool { return !s.Contains("[0/") })
	l.Type("\x02:")
	l.see("the prompt", func(s ptytest.Screen) bool { return s.Lines[23] == ":" })
	l.Type("kill-server\r")
	r := l.ends(1)
	require.Equal(t, "[server exited]", r.final.String())
	r.margins = true
	return r
}

func fzf(t *testing.T) *recording {
	l := sh(t, "seq 1 1000 | "+need(t, "fzf")+" --exact --no-unicode --color=dark")
	s := l.text("1000/1000")
	require.Equal(t, 23, s.LineWith(">"), "the prompt is the last row")
	l.press("99", "19/1000")
	l.Type("\x1b[A\x1b[A")
	s = l.see("the third is chosen", func(s ptytest.Screen) bool { return strings.HasPrefix(s.Lines[19], ">") })
	chosen := strings.TrimPrefix(s.Lines[19], "> ")
	require.Contains(t, chosen, "99")
	l.Type("\r")
	r := l.ends(0)
	require.Equal(t, chosen, r.final.String(), "the screen before, and the answer")
	return r
}

func gitLog(t *testing.T) *recording {
	need(t, "git")
	l := sh(t, `set -e; cd "$HOME"; git init -q -b main .
		git config user.name "A U Thor"; git config user.email a@example.com
		for i in 1 2 3; do git commit -q --allow-empty -m "change $i with ünïcode"; done
		git checkout -q -b side HEAD~1; git commit -q --allow-empty -m "on the side"
		git checkout -q main; git merge -q -m "both" side
		git --no-pager -c color.ui=always log --graph --oneline --decorate; printf 'end\n'`,
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z", "GIT_CONFIG_GLOBAL=/dev/null")
	s := l.text("end")
	require.True(t, strings.HasPrefix(s.Lines[0], "*   "), "the merge: %q", s.Lines[0])
	require.Contains(t, s.Lines[0], "(HEAD -> main) both")
	require.Equal(t, `|\`, s.Lines[1])
	require.True(t, s.Contains("change 1 with ünïcode"))
	r := l.ends(0)
	e := newEngine(r)
	r.replay(e, whole, func(step) {})
	hash, _ := e.Row(0).Cells()[4].Foreground().Index()
	require.Equal(t, uint8(3), hash, "a hash is yellow")
	return r
}

func man(t *testing.T) *recording {
	page := file(t, "tool.1", ".TH TOOL 1 2026-01-01 tool \"User Commands\"\n.SH NAME\ntool \\- does things\n.SH SYNOPSIS\n"+
		".B tool\n[\\fB\\-x\\fR] \\fIfile\\fR\n.SH DESCRIPTION\n"+strings.Repeat("Words that fill lines of the page. ", 80)+"\n")
	l := run(t, []string{need(t, "man"), "-l", page}, "PAGER=less", "LESS=", "LESSHISTFILE=-", "MANWIDTH=78", "GROFF_NO_SGR=")
	s := l.text("Manual page")
	require.True(t, strings.HasPrefix(s.Lines[0], "TOOL(1)"), "%q", s.Lines[0])
	require.Equal(t, "NAME", s.Lines[2])
	require.Equal(t, 23, s.LineWith("Manual page"))
	l.see("bold", func(ptytest.Screen) bool { return true })
	l.press("G", "(END)")
	l.Type("q")
	r := l.ends(0)
	e := newEngine(r)
	at := 0
	r.replay(e, whole, func(step) {
		if at++; at == 1 {
			require.Equal(t, []string{"bold"}, e.Row(2).Cells()[0].Attrs().Names(), "a heading is bold")
		}
	})
	return r
}

func progress(t *testing.T) *recording {
	l := sh(t, `printf 'before\n'
		i=0; bar=
		while [ $i -le 50 ]; do printf '\r\033[K[%-50s] \033[32m%3d%%\033[m' "$bar" $((i*2)); bar="$bar#"; i=$((i+1)); done
		printf '\nafter\n'`)
	s := l.text("after")
	require.Equal(t, []string{"before", "[" + strings.Repeat("#", 50) + "] 100%", "after", ""}, s.Lines[:4], "one row was drawn over and over")
	return l.ends(0)
}

// agent repaints a live part below its log as fast as it can, as programs do that stream text.
func agent(t *testing.T) *recording {
	l := sh(t, `printf '\033[?25l\033[?2004h'; i=1
		while [ $i -le 120 ]; do
			printf '\033[?2026h'
			[ $i -gt 1 ] && printf '\033[5A\r\033[J'
			[ $((i % 3)) = 0 ] && printf '\033[38;2;90;160;220m●\033[m step %d is done, with some words about it\r\n' $i
			printf '╭──────────────────────────────╮\r\n│ \033[1mthinking\033[m %3d  ✻ \033[2mtokens %5d\033[m │\r\n╰──────────────────────────────╯\r\n' $i $((i*17))
			printf '\033[48;5;236m> %-60s\033[m\r\n\033[90m  esc to interrupt\033[m\r\n' "typed $i"
			printf '\033[?2026l'; i=$((i+1))
		done; printf '\033[?25h\033[?2004lbye\n'`)
	s := l.text("bye")
	require.Equal(t, "● step 120 is done, with some words about it", s.Lines[s.LineWith("bye")-6])
	require.Equal(t, "│ thinking 120  ✻ tokens  2040 │", s.Lines[s.LineWith("bye")-4])
	require.Equal(t, 1, strings.Count(s.String(), "thinking"), "the live part is there once:\n%s", s)
	r := l.ends(0)
	e := newEngine(r)
	r.replay(e, whole, func(step) {})
	all := history(e) + strings.Join(texts(e), "\n")
	for i := 3; i <= 120; i += 3 {
		require.Equal(t, 1, strings.Count(all, fmt.Sprintf("step %d is", i)), "in history and screen, each line of the log once")
	}
	return r
}

func cjk(t *testing.T) *recording {
	text := "中文字符测试行，每个字两列。日本語かなカナ｡ｱｲｳ 한국어 텍스트 끝。表示幅の確認。"
	full := strings.Repeat("宽", 39) + "x"
	l := sh(t, "cat "+file(t, "text", strings.Repeat(text+"\n", 6)+full+"宽字\nend\n"))
	s := l.text("end")
	require.Equal(t, text, s.Lines[5])
	require.Equal(t, []string{full, "宽字", "end"}, s.Lines[6:9], "the last column is too small for it")
	return l.ends(0)
}

// emoji are clusters of two columns, and marks join what is before them; other terminals differ about that, so they are asked
// what they make of a painter's bytes alone.
func emoji(t *testing.T) *recording {
	clusters := []string{"😀", "👍🏽", "👩‍👩‍👧", "🇩🇪", "⚠️", "1️⃣", "👨‍💻", "🏳️‍🌈", "🫠"}
	var b strings.Builder
	for _, c := range clusters {
		b.WriteString(c + "| and text behind\n")
	}
	marks := "e\u0301 a\u0308o\u0308u\u0308 z\u0336 x|"
	l := sh(t, "cat "+file(t, "text", b.String()+marks+"\nend\n"))
	l.text("end")
	r := l.ends(0)
	r.foreign, r.disputed = false, true
	e := newEngine(r)
	r.replay(e, whole, func(step) {})
	require.Equal(t, marks, r.final.Lines[len(clusters)])
	require.Equal(t, '|', e.Row(len(clusters)).Cells()[9].Rune())
	for y, c := range clusters {
		require.Equal(t, c+"| and text behind", r.final.Lines[y])
		require.Equal(t, '|', e.Row(y).Cells()[2].Rune(), "%q has two columns", c)
	}
	return r
}

// urandom is what happens to everybody once; the terminal is well after a reset.
func urandom(t *testing.T) *recording {
	l := sh(t, `stty -echo; head -c 500000 /dev/urandom; printf '\030\033\\\033c'; printf 'still here\n'`)
	s := l.text("still here")
	require.Equal(t, "still here", s.String())
	r := l.ends(0)
	r.foreign = false
	// Places within the noise, beside those at its end.
	var steps []step
	for end := 40000; end < 500000; end += 40000 {
		steps = append(steps, step{what: fmt.Sprint("byte ", end), end: end, size: size})
	}
	r.steps = append(steps, r.steps...)
	return r
}
