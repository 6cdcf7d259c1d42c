package talk

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// A command line may have what names a session, and nothing else that anybody says first.
func TestWhatMayBeSeen(t *testing.T) {
	attach := func(change func(a *protocol.Attach)) *protocol.Attach {
		a := &protocol.Attach{
			Session: "work", ReadOnly: true, Take: true, Size: domain.DefaultSize, Origin: domain.Origin{Host: "desk", Pid: 11},
		}
		change(a)
		return a
	}
	require.True(t, mayBeSeen(attach(func(*protocol.Attach) {})))
	for name, m := range map[string]protocol.SessionClientMessage{
		"nothing":  nil,
		"resume":   attach(func(a *protocol.Attach) { a.Resume = &protocol.Resume{Token: protocol.Token{1}} }),
		"create":   attach(func(a *protocol.Attach) { a.Create = &protocol.Create{Name: "work"} }),
		"agent":    attach(func(a *protocol.Attach) { a.Agent = "/tmp/agent" }),
		"terminal": attach(func(a *protocol.Attach) { a.Origin.Terminal = "xterm" }),
		"typed":    &protocol.Request{ID: 1, Body: &protocol.Type{Session: "work", Data: []byte("secret")}},
		"search":   &protocol.Request{ID: 1, Body: &protocol.Wait{Session: "work", Text: "secret"}},
		"list":     &protocol.Request{ID: 1, Body: &protocol.List{}},
		"watch":    &protocol.Watch{},
	} {
		require.False(t, mayBeSeen(m), name)
	}
	// A field that is new here is private until somebody has decided that it is not.
	require.Equal(t, 8, reflect.TypeFor[protocol.Attach]().NumField())
	require.Equal(t, 3, reflect.TypeFor[domain.Origin]().NumField())
}

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
