package talk

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// What may be said twice goes with the request for the stream; what may not waits until the conversation is there.
func TestWhatAnOpeningSays(t *testing.T) {
	far, err := domain.ParseAddress("box:work")
	require.NoError(t, err)
	size := domain.DefaultSize

	long := &protocol.Attach{Session: "work", Size: size, Agent: strings.Repeat("x", protocol.MaxFirstBytes)}
	for name, tc := range map[string]struct {
		first protocol.SessionClientMessage
		said  bool
	}{
		"attach":  {&protocol.Attach{Session: "work", Size: size}, true},
		"resume":  {&protocol.Attach{Size: size, Resume: &protocol.Resume{Token: protocol.Token{1}}}, true},
		"create":  {&protocol.Attach{Size: size, Create: &protocol.Create{Name: "work"}}, false},
		"take":    {&protocol.Attach{Session: "work", Size: size, Take: true}, false},
		"request": {&protocol.Request{ID: 1, Body: &protocol.List{}}, true},
		"change":  {&protocol.Request{ID: 1, Body: &protocol.Kill{Session: "work"}}, false},
		"nothing": {nil, false},
		"long":    {long, false},
	} {
		for _, d := range []*Dialer{{Host: far.Host}, {}} {
			o, left, err := d.opening(tc.first, d.Host.Local())
			require.NoError(t, err, name)
			bare, _, err := d.opening(nil, d.Host.Local())
			require.NoError(t, err)
			if tc.said {
				require.Nil(t, left, name)
				require.Greater(t, len(o.Bytes()), len(bare.Bytes()), name)
				continue
			}
			require.Equal(t, tc.first, left, name)
			relayed, _, err := d.opening(nil, false)
			require.NoError(t, err)
			require.Equal(t, d.Host.Local(), len(relayed.Bytes()) > len(bare.Bytes()), "what is relayed may be packed")
			require.Equal(t, bare.Bytes(), o.Bytes(), "the preamble goes in any case: %s", name)
		}
	}
}
