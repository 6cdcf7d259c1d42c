package ptytest

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/vev-term/vev/internal/domain"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func sh(t *testing.T, script string) *Term {
	t.Helper()
	return Start(t, []string{"/bin/sh", "-c", script}, Env(), domain.DefaultSize)
}

func TestSeesTypesAndEnds(t *testing.T) {
	p := sh(t, `printf 'name? '; read name; echo "hello $name"; exit 4`)
	p.WaitText("name?")
	p.Type("you\r")
	s := p.WaitText("hello you")
	require.Equal(t, "name? you\nhello you", s.String())
	require.Equal(t, domain.ExitStatus{Code: 4}, p.Wait())
	require.Equal(t, "name? you\r\nhello you\r\n", string(p.Output()))
}

func TestAnswersLikeATerminal(t *testing.T) {
	p := sh(t, `stty raw -echo; printf 'abc\033[6n'; dd bs=1 count=6 2>/dev/null | od -c`)
	p.WaitOutput("033   [   1   ;   4   R")
	p.Wait()
}

func TestModesBeforeAndAfter(t *testing.T) {
	p := sh(t, `stty raw -echo; echo raw; read x; stty sane; exit`)
	p.WaitText("raw")
	require.True(t, p.Raw())
	require.NotEqual(t, p.Found(), p.Modes())
	p.SetModes(p.Found())
	p.Type("\r")
	p.Wait()
	require.False(t, p.Raw())
}

func TestResizeReachesTheProgramAndTheScreen(t *testing.T) {
	p := sh(t, `trap 'stty size; exit' WINCH; echo on; while :; do sleep 0.05; done`)
	p.WaitText("on")
	p.Resize(domain.Size{Cols: 100, Rows: 30})
	p.WaitText("30 100")
	require.Equal(t, domain.Size{Cols: 100, Rows: 30}, p.Screen().Size)
	require.Zero(t, p.Wait().Code)
}

func TestHangUpAndSignal(t *testing.T) {
	p := sh(t, `echo on; sleep 1000`)
	p.WaitText("on")
	p.HangUp()
	require.Equal(t, syscall.SIGHUP, p.Wait().Signal)
	p = sh(t, `echo on; exec sleep 1000`)
	p.WaitText("on")
	p.Signal(syscall.SIGTERM)
	require.Equal(t, syscall.SIGTERM, p.Wait().Signal)
}

func TestAlternateScreenAndWideText(t *testing.T) {
	p := sh(t, `printf 'main'; printf '\033[?1049h\033[2;3H世界 é\033]2;a title\007'; read x`)
	s := p.WaitText("世界 é")
	require.Equal(t, 1, s.LineWith("世界"))
	require.True(t, strings.HasPrefix(s.Lines[1], "  世界 é"))
	require.False(t, s.Contains("main"))
	require.True(t, s.Modes.Alternate)
	require.Equal(t, "a title", s.Title)
	require.Equal(t, 8, s.Cursor.Col)
}
