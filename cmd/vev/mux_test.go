package main

import (
	"io"
	"os"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// What is known of the input ahead is read once, though it comes too.
func TestWhatIsKnownAheadIsNotReadTwice(t *testing.T) {
	for _, known := range []string{"", "known"} {
		in, out, err := os.Pipe()
		require.NoError(t, err)
		s := &stdio{reads: in, ahead: []byte(known), again: len(known)}
		if known != "" {
			got := make([]byte, 3)
			_, err = io.ReadFull(s, got)
			require.NoError(t, err, "before anything comes")
			require.Equal(t, "kno", string(got))
		}
		_, err = out.WriteString(known + " and the rest")
		require.NoError(t, err)
		require.NoError(t, out.Close())
		rest, err := io.ReadAll(iotest.OneByteReader(s))
		require.NoError(t, err)
		require.Equal(t, known[min(3, len(known)):]+" and the rest", string(rest))
		require.NoError(t, in.Close())
	}
}
