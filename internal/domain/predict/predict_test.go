package predict

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// prompted is a world with a shell whose prompt is there, in an epoch that is confirmed.
func prompted(t *testing.T, e *editor, cols, rows int) *world {
	t.Helper()
	w := newWorld(e, cols, rows)
	if e.prompt == "" {
		e.prompt = "$ "
	}
	w.output = e.prompt
	w.settles()
	w.types("e")
	require.Equal(t, e.prompt[:1], w.seen(), "nothing is shown before the first echo of an epoch")
	w.settles()
	require.Equal(t, e.prompt+"e", w.seen())
	return w
}

func TestLineIsShownAsItIsTyped(t *testing.T) {
	w := prompted(t, &editor{}, 40, 5)
	for i, r := range "cho hello" {
		w.types(string(r))
		require.Equal(t, strings.TrimRight("$ e"+"cho hello"[:i+1], " "), w.seen())
	}
	col, row, ok := w.p.Cursor()
	require.True(t, ok)
	require.Equal(t, []int{12, 0}, []int{col, row})
	w.settles()
	_, _, ok = w.p.Cursor()
	require.False(t, ok, "nothing is in flight: the state has it all")
	require.Empty(t, w.p.Rows())
	require.Equal(t, "$ echo hello", w.seen())
}

func TestGuessesMoveOntoNewerStates(t *testing.T) {
	w := prompted(t, &editor{}, 40, 5)
	w.types("c")
	w.types("h")
	w.types("o")
	w.writes()
	w.answers(99)
	w.draws()
	w.shows()
	require.Equal(t, "$ echo", w.seen(), "the echo of the first came, the others stay")
	w.writes()
	w.draws() // the second is written and not answered
	w.shows()
	require.Equal(t, "$ echo", w.seen(), "a key that may not be answered yet stays as well")
	w.settles()
	require.Equal(t, "$ echo", w.seen())
	require.Empty(t, w.p.Rows())
}

func TestEditing(t *testing.T) {
	for _, c := range []struct{ name, keys, line string }{
		{"backspace", "abc\x7f\x7f", "$ ea"},
		{"left and insert", "cho\x1b[D\x1b[DX", "$ ecXho"},
		{"insert twice", "cho\x1b[D\x1b[DXY", "$ ecXYho"},
		{"backspace in the line", "cho\x1b[D\x7f", "$ eco"},
		{"right again", "cho\x1bOD\x1bOD\x1bOCX", "$ echXo"},
		{"right stays at the end", "c\x1b[C\x1b[CX", "$ ecX"},
		{"left stays at the begin", "\x1b[D\x1b[D\x1b[DX", "$ Xe"},
		{"backspace stays at the begin", "\x7f\x7f\x7f\x7fX", "$ X"},
		{"wide", "漢字", "$ e漢字"},
		{"wide erased", "漢字\x7f", "$ e漢"},
		{"wide in the line", "漢b\x1b[D\x1b[DX", "$ eX漢b"},
		{"back over wide", "漢字\x1b[D\x7fX", "$ eX字"},
		{"words", "x a  b\x1b[D\x1b[D\x1b[D\x1b[D\x1b[DY", "$ exY a  b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := prompted(t, &editor{}, 40, 5)
			for keys := c.keys; keys != ""; {
				n := 1
				if keys[0] == 0x1b {
					n = 3
				} else if keys[0] >= 0x80 {
					n = 3
				}
				w.types(keys[:n])
				keys = keys[n:]
			}
			require.Equal(t, c.line, w.seen(), "guessed")
			gcol, grow, ok := w.p.Cursor()
			require.True(t, ok)
			w.settles()
			require.Equal(t, c.line, w.seen(), "in truth")
			require.Empty(t, w.p.Rows())
			cursor := w.client.Cursor()
			require.Equal(t, []int{cursor.Col, cursor.Row}, []int{gcol, grow}, "the cursor was where it was guessed")
			require.True(t, w.p.confirmed, "the epoch goes on")
		})
	}
}

func TestWrap(t *testing.T) {
	w := prompted(t, &editor{}, 10, 5)
	w.types("1234567")
	require.Equal(t, "$ e1234567", w.seen())
	w.types("8")
	require.Equal(t, "$ e1234567\n8", w.seen())
	w.settles()
	require.Equal(t, "$ e1234567\n8", w.seen())
	require.True(t, w.p.confirmed)
	w.types("9")
	require.Equal(t, "$ e1234567\n89", w.seen())
}

func TestWrapAtTheBottomIsNotGuessed(t *testing.T) {
	w := prompted(t, &editor{}, 10, 1)
	w.types("1234567")
	w.types("8")
	require.Equal(t, "$ e1234567", w.seen())
	w.settles()
	require.Equal(t, "8", w.seen())
}

func TestEnterBeginsAnEpoch(t *testing.T) {
	w := prompted(t, &editor{}, 40, 5)
	w.types("\r")
	w.types("ls")
	require.Equal(t, "$ e", w.seen())
	w.settles()
	w.types("x")
	require.Equal(t, "$ e\n$ ls", w.seen(), "nothing of the new line was confirmed")
	w.settles()
	w.types("y")
	require.Equal(t, "$ e\n$ lsxy", w.seen())
}

func TestKeysTypedAheadAreGuessedOnceThePromptIsThere(t *testing.T) {
	w := prompted(t, &editor{}, 40, 5)
	w.types("\r")
	w.types("l")
	w.types("s")
	w.writes() // Enter
	w.answers(99)
	w.draws()
	w.shows()
	w.writes() // l
	w.ripens()
	w.draws()
	w.shows()
	require.Equal(t, "$ e\n$ ls", w.seen(), "l is confirmed: s is shown before its echo")
}

func TestPasswordIsNeverShown(t *testing.T) {
	for _, mask := range []string{"", "*", "•", "."} {
		e := &editor{onEnter: func(string) (program, string) {
			return &silent{mask: mask}, "\r\nPassword: "
		}}
		w := prompted(t, e, 40, 5)
		w.types("\r")
		for _, r := range "se*cr•et*.s" {
			w.types(string(r))
			require.NotContains(t, w.seen(), "s", "not before the prompt")
		}
		w.settles()
		for _, r := range "**s.e.cret" {
			w.types(string(r))
			require.Empty(t, w.p.Rows())
			w.writes()
			w.draws()
			w.shows()
			require.Empty(t, w.p.Rows())
			if r == 'c' {
				w.ripens()
				w.draws()
				w.shows()
				require.Empty(t, w.p.Rows())
			}
		}
		w.settles()
		require.Empty(t, w.p.Rows())
		require.NotContains(t, w.seen(), "e"+"c", "mask "+mask)
	}
}

// A terminal echoes what is typed ahead of a program that turns echo off: what the echo showed is the user's to see, but
// it must not speak for what comes behind.
func TestPasswordTypedAheadIsNotShown(t *testing.T) {
	e := &editor{onEnter: func(string) (program, string) { return &silent{}, "\r\n" }}
	w := prompted(t, e, 40, 5)
	w.types("\r")
	w.types("s")
	w.types("e")
	w.writes() // Enter
	w.answers(99)
	w.written++ // the terminal's own echo of the first character
	w.toProgram = w.toProgram[1:]
	w.output = "s"
	w.answers(99)
	w.draws()
	w.shows()
	require.Equal(t, "$ e\ns", w.seen())
	w.output = "\r\nPassword: "
	w.answers(99)
	w.ripens()
	w.draws()
	w.shows()
	w.types("c")
	require.Equal(t, "$ e\ns\nPassword:", w.seen())
	w.settles()
	w.types("r")
	require.Equal(t, "$ e\ns\nPassword:", w.seen())
}

func TestWrongGuessIsGoneWithTheState(t *testing.T) {
	e := &editor{}
	w := prompted(t, e, 40, 5)
	e.inner = &silent{mask: "?"}
	w.types("abc")
	require.Equal(t, "$ eabc", w.seen())
	w.writes()
	w.ripens()
	w.draws()
	w.shows()
	require.Equal(t, "$ e?", w.seen(), "the first is settled and wrong: all that stood on it go")
	w.settles()
	require.Equal(t, "$ e???", w.seen())
	w.types("d")
	require.Equal(t, "$ e???", w.seen())
}

func TestSlowAnswerIsMadeUpForByAnyKey(t *testing.T) {
	slow := func(key string) *world {
		w := prompted(t, &editor{}, 40, 5)
		w.types("cho")
		w.settles()
		w.types(key)
		w.written, w.toProgram = w.written+uint64(len(key)), nil
		w.echo = w.written // nothing came in time
		w.draws()
		w.shows()
		w.types(key)
		require.Equal(t, "$ echo", w.seen())
		w.settles() // the second key has its answer; the first has none for ever
		w.types(key)
		require.Equal(t, w.line(w.client.Row(0).Cells()), w.seen())
		w.settles()
		return w
	}
	for _, key := range []string{"\x7f", "\x1b[D"} {
		w := slow(key)
		require.True(t, w.p.confirmed, "%q", key)
	}
	w := slow("\x01") // a key that breaks has ended the epoch
	w.types("\x1b[C")
	w.settles()
	require.False(t, w.p.confirmed)
}

func TestLateEchoBringsTheGuessesBack(t *testing.T) {
	w := prompted(t, &editor{}, 40, 5)
	w.types("c")
	w.types("h")
	w.writes()
	w.echo = w.written // no answer in time
	late := w.output
	w.output = ""
	w.draws()
	w.shows()
	require.Equal(t, "$ e", w.seen(), "what is settled is not shown, nor what stands on it")
	w.types("o")
	require.Equal(t, "$ e", w.seen())
	w.output = late
	w.answers(99)
	w.draws()
	w.shows()
	require.Equal(t, "$ echo", w.seen(), "the program was slow")
}

func TestArrowsInAMaskedFieldConfirmNothing(t *testing.T) {
	w := prompted(t, &editor{}, 40, 5)
	w.types("***")
	w.settles()
	w.p.confirmed, w.p.lapsed = false, true
	w.types("\x1b[D")
	w.types("\x7f")
	w.settles()
	require.Equal(t, "$ e**", w.seen())
	require.False(t, w.p.confirmed)
}

func TestOutputElsewhereEndsTheEpoch(t *testing.T) {
	w := prompted(t, &editor{}, 40, 5)
	w.output = "\r\n[1] done\r\n$ e"
	w.settles()
	w.types("x")
	require.Equal(t, "$ e\n[1] done\n$ e", w.seen())
}

func TestClockInACornerDoesNotEndTheEpoch(t *testing.T) {
	w := prompted(t, &editor{}, 40, 5)
	w.types("c")
	w.output = "\x1b7\x1b[5;30H12:00\x1b8"
	w.answers(99)
	w.draws()
	w.shows()
	require.Contains(t, w.seen(), "$ ec")
	w.settles()
	w.types("h")
	require.Contains(t, w.seen(), "$ ech")
}

func TestOverwritingProgramIsLearned(t *testing.T) {
	w := prompted(t, &editor{overwrite: true}, 40, 5)
	w.types("cho")
	w.types("\x1b[D")
	w.types("\x1b[D")
	w.settles()
	w.types("X")
	require.Equal(t, "$ ecXho", w.seen(), "insertion is the usual")
	w.settles()
	require.Equal(t, "$ ecXo", w.seen())
	w.types("Y")
	require.Equal(t, "$ ecXY", w.seen())
}

func TestHalfDrawnStateKeepsTheGuess(t *testing.T) {
	w := prompted(t, &editor{}, 40, 5)
	w.types("cho")
	w.types("\x1b[D")
	w.settles()
	w.types("X")
	w.writes()
	w.answers(1) // the character is there, what it pushed and the cursor are not
	w.draws()
	w.shows()
	require.Equal(t, "$ echXo", w.seen())
	w.settles()
	require.Equal(t, "$ echXo", w.seen())
	require.True(t, w.p.confirmed)
}

func TestBorderStays(t *testing.T) {
	w := newWorld(&editor{}, 30, 3)
	w.output = "| ab          |\x1b[1;3H"
	w.settles()
	w.types("x")
	w.p.confirmed = true
	w.p.draw(w.client)
	require.Equal(t, "| xab         |", w.seen())
}

func TestPasteIsNotGuessed(t *testing.T) {
	w := prompted(t, &editor{}, 40, 5)
	w.types(strings.Repeat("x", MaxChunk+1))
	w.types("y")
	require.Equal(t, "$ e", w.seen())
	w.settles()
	w.types("z")
	w.settles()
	w.types("z")
	require.Contains(t, w.seen(), "yzz")
}

func TestFlightIsBounded(t *testing.T) {
	w := prompted(t, &editor{}, 400, 5)
	for range maxFlight {
		w.types("x")
	}
	require.Contains(t, w.seen(), strings.Repeat("x", maxFlight))
	w.types("x")
	require.Equal(t, "$ e", w.seen(), "one more, and nothing is guessed")
	require.Len(t, w.p.flight, 1)
	w.settles()
	require.Equal(t, "$ e"+strings.Repeat("x", maxFlight+1), w.seen())
	require.Empty(t, w.p.flight)
}

func TestInputThatWasLeftOutIsWaitedFor(t *testing.T) {
	w := prompted(t, &editor{}, 40, 5)
	w.typed += 2
	w.toProgram = append(w.toProgram, "ab"...)
	w.types("c")
	require.Equal(t, "$ e", w.seen())
	w.settles()
	w.types("d")
	w.settles()
	w.types("f")
	require.Equal(t, "$ eabcdf", w.seen())
}

func TestResizeAndNewScreenEndTheEpoch(t *testing.T) {
	w := prompted(t, &editor{}, 40, 5)
	w.types("c")
	w.client.Resize(30, 5)
	w.p.Shown(w.client, w.echo, w.written, w.now)
	require.Equal(t, "$ e", w.seen())

	w = prompted(t, &editor{}, 40, 5)
	w.types("c")
	other := vt.New(vt.Options{Cols: 40, Rows: 5})
	other.Write([]byte("new"))
	w.client = other
	w.p.Shown(other, w.echo, w.written, w.now)
	require.Equal(t, "new", w.seen())
}

func TestLinkDecides(t *testing.T) {
	p := New(Adaptive)
	require.False(t, p.Active(), "nothing is known of the link")
	p.Measured(25 * time.Millisecond)
	require.False(t, p.Active())
	p.Measured(31 * time.Millisecond)
	require.True(t, p.Active())
	p.Measured(25 * time.Millisecond)
	require.True(t, p.Active(), "what began above 30 ms ends below 20")
	p.Measured(19 * time.Millisecond)
	require.False(t, p.Active())
	p.Stalled()
	require.True(t, p.Active())
	for range stallKeys {
		p.gauge.answered(stallAfter - 1)
	}
	require.False(t, p.Active())

	always := New(Always)
	require.True(t, always.Active())
	never := New(Never)
	never.Measured(time.Second)
	never.Stalled()
	require.False(t, never.Active())
}

func TestBadLinkUnderlines(t *testing.T) {
	for _, c := range []struct {
		rtt  time.Duration
		want vt.Underline
	}{{60 * time.Millisecond, vt.UnderlineNone}, {300 * time.Millisecond, vt.UnderlineSingle}} {
		w := newWorld(&editor{}, 20, 2)
		w.p = New(Adaptive)
		w.p.Measured(c.rtt)
		w.output = "$ "
		w.settles()
		w.types("a")
		w.settles()
		w.types("b")
		require.Len(t, w.p.Rows(), 1)
		require.Equal(t, c.want, w.p.Rows()[0].Cells[3].Attrs().Underline())
		w.settles()
		require.Equal(t, vt.UnderlineNone, w.client.Row(0).Cells()[3].Attrs().Underline())
	}
}

func TestModeNames(t *testing.T) {
	for name, want := range map[string]Mode{"adaptive": Adaptive, "always": Always, "never": Never} {
		m, ok := ParseMode(name)
		require.True(t, ok)
		require.Equal(t, want, m)
		require.Equal(t, name, m.String())
	}
	_, ok := ParseMode("sometimes")
	require.False(t, ok)
}
