package sessionwire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/doctable"
)

const document = "../../../docs/protocol.md"

// The states table of the document is the machine.
func TestTheDocumentHasTheStates(t *testing.T) {
	head := doctable.Head(t, document, "conversation states")
	require.Len(t, head, int(kindEnd)+2)
	for k := kindAttach; k < kindEnd; k++ {
		require.Equal(t, k.String(), strings.ToLower(head[int(k)+2]))
	}
	rows := doctable.Rows(t, document, "conversation states")
	require.Len(t, rows, len(states))
	letters := map[state]string{}
	for i, row := range rows {
		require.Equal(t, states[i].String(), row[0])
		letters[states[i]] = row[1]
	}
	for i, row := range rows {
		for k := kindAttach; k < kindEnd; k++ {
			to, v := states[i].step(k)
			want := letters[to]
			switch {
			case v == refuse:
				want = "."
			case v == discard:
				want = "~"
			case to == states[i]:
				want = "="
			}
			require.Equal(t, want, row[int(k)+2], "%s in %s", k, states[i])
		}
	}
}

func TestTheDocumentsExampleIsWhatIsSent(t *testing.T) {
	frame, err := appendClient(nil, &protocol.Input{Seq: 1, Data: []byte("x")})
	require.NoError(t, err)
	var sent bytes.Buffer
	require.NoError(t, streamframe.NewWriter(&sent).Write(frame, nil))
	require.Equal(t, doctable.Hex(t, document, "input"), sent.Bytes())
}
