package protocol_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

func TestWhatTravelsOfAnError(t *testing.T) {
	require.Nil(t, protocol.FailureOf(nil))

	secret := errors.New("open /home/u/.ssh/id: no such file")
	err := fault.Wrap(fault.Unavailable, secret, "host %s cannot be reached", "db").WithHint("vev host ls")
	want := &protocol.Failure{Kind: fault.Unavailable, Text: "host db cannot be reached", Hint: "vev host ls"}
	require.Equal(t, want, protocol.FailureOf(err), "causes stay here")
	require.Equal(t, want, protocol.FailureOf(fmt.Errorf("dial: %w", err)), "also when wrapped")

	require.Equal(t, &protocol.Failure{Kind: fault.Internal, Text: "unexpected EOF"}, protocol.FailureOf(io.ErrUnexpectedEOF))
}

func TestAFailureFromThePeerIsData(t *testing.T) {
	f := protocol.Failure{Kind: fault.Denied, Text: "no\x1b]0;x\a", Hint: strings.Repeat("é", 400)}
	err := f.Fault()
	require.True(t, err.Peer)
	require.Equal(t, fault.Denied, err.Kind)
	require.Equal(t, "no ]0;x ", err.Msg)
	require.Equal(t, strings.Repeat("é", fault.MaxText/2), err.Hint)
	unknown := protocol.Failure{Kind: 200}
	require.Equal(t, fault.Internal, unknown.Fault().Kind)
}

func TestFailuresComeBackAsTheyWent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent := &fault.Error{
			Kind: fault.Kind(rapid.IntRange(0, int(fault.Unknown)).Draw(t, "kind")),
			Msg:  rapid.String().Draw(t, "message"), Hint: rapid.String().Draw(t, "hint"),
		}
		f := protocol.FailureOf(sent)
		require.LessOrEqual(t, len(f.Text), fault.MaxText)
		got := f.Fault()
		require.Equal(t, sent.Kind, got.Kind)
		require.Equal(t, f, protocol.FailureOf(got), "cleaned once, clean for ever")
	})
}

func TestCleanLeavesNothingThatATerminalObeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOfN(rapid.Byte(), 0, 2*fault.MaxText).Draw(t, "bytes"))
		out := fault.Clean(in)
		require.LessOrEqual(t, len(out), fault.MaxText)
		require.True(t, utf8.ValidString(out))
		for _, r := range out {
			require.False(t, r < 0x20 || r >= 0x7f && r < 0xa0, "%q in %q", r, out)
		}
		require.Equal(t, out, fault.Clean(out))
	})
}
