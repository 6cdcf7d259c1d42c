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
		"request": {&protocol.Request{ID: 1, Body: &protocol.List{}}, false},
		"nothing": {nil, false},
		"long":    {long, false},
	} {
		t.Run(name, func(t *testing.T) {
			o, left, err := (&Dialer{Host: far.Host}).opening(tc.first)
			require.NoError(t, err)
			require.NotNil(t, o, "the preamble goes in any case")
			if tc.said {
				require.Nil(t, left)
				return
			}
			require.Equal(t, tc.first, left)
			bare, _, err := (&Dialer{Host: far.Host}).opening(nil)
			require.NoError(t, err)
			require.Equal(t, bare.Bytes(), o.Bytes())

			o, left, err = (&Dialer{}).opening(tc.first)
			require.NoError(t, err)
			require.Nil(t, o, "to this machine nothing is said ahead")
			require.Equal(t, tc.first, left)
		})
	}
}
