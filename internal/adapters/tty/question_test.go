package tty

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
)

// typed is a terminal on which keys were typed.
type typed struct {
	io.Reader
	bytes.Buffer
}

func (t *typed) Read(p []byte) (int, error)  { return t.Reader.Read(p) }
func (t *typed) Write(p []byte) (int, error) { return t.Buffer.Write(p) }

func TestAnAnswerIsALine(t *testing.T) {
	for keys, want := range map[string]string{
		"sesame\r": "sesame", "\r": "", "se\x01s\tame\nrest": "sesame", "abc\x7f\x08d\r": "ad", "\x7fa\r": "a", "é\x7fe\r": "e",
		"wrong\x15right\r": "right", strings.Repeat("x", maxAnswer+9) + "\r": strings.Repeat("x", maxAnswer),
	} {
		tt := &typed{Reader: strings.NewReader(keys)}
		got, err := answer(tt, false)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		require.Zero(t, tt.Len(), "nothing is shown")
	}
	tt := &typed{Reader: strings.NewReader("yex\x7fs\r")}
	_, err := answer(tt, true)
	require.NoError(t, err)
	require.Equal(t, "yex\b \bs", tt.String())
}

func TestAQuestionThatIsNotAnswered(t *testing.T) {
	for _, keys := range []string{"ab\x03", "\x04", "\x1b", "cut"} {
		_, err := answer(&typed{Reader: strings.NewReader(keys)}, false)
		require.Equal(t, fault.Canceled, fault.KindOf(err), "%q", keys)
	}
}
