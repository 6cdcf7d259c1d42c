package shell

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

func TestShellsAreToldByTheirCommandLine(t *testing.T) {
	for line, want := range map[string]Kind{
		"": None, "vim": None, "sh": Posix, "/bin/dash": Posix, "-bash": Bash, "bash -l": Bash, "bash -i": Bash,
		"bash --rcfile x": Bash, "bash --rcfile x y": None, "zsh -f": Zsh, "zsh -o extendedglob": Zsh, "fish -C ls": Fish,
		"bash -c ls": None, "bash -lc ls": None, "sh script": None, "sh -s a b": Posix, "sh -": Posix, "sh -- x": None,
		"busybox sh": Posix, "busybox vi": None, "fish --command ls": None, "bash --norc --noprofile": Bash,
	} {
		require.Equal(t, want, Of(strings.Fields(line)), "%q", line)
	}
}

func TestALineIsOneLineOfHarmlessBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		command := rapid.StringN(1, 200, -1).Draw(t, "command")
		at := At{Kind: Kind(rapid.IntRange(1, 4).Draw(t, "kind")), Marks: rapid.Bool().Draw(t, "marks"), ID: "0a1b"}
		line, err := at.Type(command)
		if err != nil {
			require.Contains(t, []fault.Kind{fault.Usage, fault.Limit}, fault.KindOf(err))
			return
		}
		for _, c := range []byte(line) {
			require.True(t, c >= 0x20 && c < 0x7f, "%q in %q", c, line)
		}
	})
}

func TestOnlyPlainWordsAreTypedAsTheyAre(t *testing.T) {
	at := At{Kind: Bash, Marks: true}
	for _, command := range []string{"ls -la /tmp", "make test", "git log --oneline -3"} {
		line, err := at.Type(command)
		require.NoError(t, err)
		require.Equal(t, command, line)
	}
	for _, command := range []string{"if true", "echo 'a", "a && b", "echo $x", "a\nb", "ls \\", "!!", " ls", "echo ü"} {
		line, err := at.Type(command)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(line, ` eval "$(printf '`), line)
	}
}

func TestWhatCannotBeTypedIsRefused(t *testing.T) {
	for command, kind := range map[string]fault.Kind{
		"": fault.Usage, " \n ": fault.Usage, "a\x00b": fault.Usage, strings.Repeat("x", MaxCommandBytes+1): fault.Limit,
	} {
		_, err := At{Kind: Bash, ID: "1"}.Type(command)
		require.Equal(t, kind, fault.KindOf(err))
	}
	longest, err := At{Kind: Bash, ID: "1"}.Type(strings.Repeat("x", MaxCommandBytes))
	require.NoError(t, err)
	require.Contains(t, longest, strings.Repeat("x", MaxCommandBytes))
	at := At{Kind: Posix, ID: "0123456789abcdef", Canonical: true}
	fits, err := at.Type(strings.Repeat("x", maxCanonical-len(at.line(""))))
	require.NoError(t, err)
	require.Len(t, fits, maxCanonical)
	_, err = at.Type(strings.Repeat("x", maxCanonical-len(at.line(""))+1))
	require.Equal(t, fault.Limit, fault.KindOf(err))
}

// tapped is what a tap makes of bytes that come in the given pieces.
func tapped(tap *Tap, pieces ...string) string {
	var out []byte
	for _, p := range pieces {
		out = tap.Write(out, []byte(p))
	}
	return string(out)
}

func TestTheTapFindsTheOutput(t *testing.T) {
	tap := &Tap{}
	require.Equal(t, "a\x1b[1mb\x1b]0;t\a\r\n", tapped(tap, "$ ls\r\n\x1b]133;C\aa\x1b[1mb\x1b]0;t\a\r\n\x1b]133;D;3\x1b\\\x1b]133;A\a$ "))
	require.True(t, tap.Ended())
	status, known := tap.Status()
	require.Equal(t, 3, status)
	require.True(t, known)

	tap = &Tap{}
	require.Equal(t, "x", tapped(tap, "\x1b]133;D;1\a\x1b]133;A\a\x1b]133;C\ax\x1b]133;A\a"))
	_, known = tap.Status()
	require.True(t, tap.Ended() && !known, "a prompt ends it, too")

	tap = &Tap{ID: "77"}
	require.Equal(t, "out", tapped(tap, "\x1b]133;C\aecho\x1b]133;C;vev=77\aout\x1b]133;D;5;vev=77\a\x1b]133;D;0\a"))
	status, _ = tap.Status()
	require.Equal(t, 5, status)

	tap = &Tap{ID: "77"}
	require.Equal(t, "out^C", tapped(tap, "\x1b]133;C;vev=77\aout^C\x1b]133;D;130\a\x1b]133;A\a$ "))
	status, _ = tap.Status()
	require.Equal(t, 130, status, "the shell's own mark counts for the end")

	long := "\x1b]133;D;" + strings.Repeat("x", maxMark)
	tap = &Tap{}
	require.Equal(t, long+"\a", tapped(tap, "\x1b]133;C\a", long, "\a"), "no mark is that long")
}

func TestATapDoesNotCareHowBytesCome(t *testing.T) {
	parts := []string{"\x1b]133;C\a", "\x1b]133;C;vev=9\a", "\x1b]133;D;4\x1b\\", "\x1b]133;A\a", "\x1b", "\x1b]", "\x1b]133", "x", "\r\n", "\x1b[31m", "\x1b]133;Z\a", "\a"}
	rapid.Check(t, func(t *rapid.T) {
		all := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "bytes"), "")
		id := rapid.SampledFrom([]string{"", "9"}).Draw(t, "id")
		whole, split := &Tap{ID: id}, &Tap{ID: id}
		want := whole.Rest([]byte(tapped(whole, all)))
		var pieces []string
		for rest := all; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		got := split.Rest([]byte(tapped(split, pieces...)))
		require.Equal(t, string(want), string(got))
		require.Equal(t, whole.Ended(), split.Ended())
		require.LessOrEqual(t, len(split.held), maxMark)
	})
}

func textOf(size domain.Size, pieces ...string) string {
	text := NewText(size)
	var out []byte
	for _, p := range pieces {
		out = text.Write(out, []byte(p))
	}
	return string(text.End(out))
}

func TestTextIsWhatTheTerminalShowed(t *testing.T) {
	size := domain.Size{Cols: 10, Rows: 4}
	for output, want := range map[string]string{
		"": "", "a": "a", "a\r\n": "a\n", "\r\n": "\n", "a\r\n\r\n": "a\n\n", "\r\n\r\nb": "\n\nb",
		"0123456789abc\r\nd\r\n":                                 "0123456789abc\nd\n",
		"10%\r20%\r\x1b[Kdone\r\n":                               "done\n",
		"\x1b[31mred\x1b[m\r\n":                                  "red\n",
		"one\r\ntwo\r\n\x1b[A\x1b[Ktwo!\r\n":                     "one\ntwo!\n",
		strings.Repeat("x\r\n", 20) + "y\r\n":                    strings.Repeat("x\n", 20) + "y\n",
		"a\r\n\x1b[?1049hfull\x1b[?1049lb":                       "a\nb",
		"abc\x1b[1m\x1b[7m%\x1b[27m\x1b[1m\x1b[0m         \r \r": "abc",
	} {
		require.Equal(t, want, textOf(size, output), "%q", output)
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := []string{"a", "bc\r\n", "\r\n", "0123456789", "\x1b[1m", "\r", "ü", "%"}
		pieces := rapid.SliceOfN(rapid.SampledFrom(parts), 0, 40).Draw(t, "pieces")
		require.Equal(t, textOf(size, strings.Join(pieces, "")), textOf(size, pieces...))
	})
}

func TestMuchOutputIsHandedOnAsItComes(t *testing.T) {
	text := NewText(domain.DefaultSize)
	line := strings.Repeat("z", 200) + "\r\n"
	out := 0
	for range 5000 {
		out += len(text.Write(nil, []byte(line)))
	}
	require.Greater(t, out, 5000*200-20_000)
	out += len(text.End(nil))
	require.Equal(t, 5000*201, out)
}

func TestEachShellHasItsIntegration(t *testing.T) {
	for k := None; k <= Fish; k++ {
		require.Equal(t, k.Edits(), Integration(k) != "", "%v", k)
	}
}
