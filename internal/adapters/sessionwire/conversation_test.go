package sessionwire

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

var states = []state{stateNew, stateAttaching, stateAttached, stateRequesting, stateWatching, stateWatched, stateEnded, stateClosed}

// The whole machine, one row a state, in the order of the kinds: a message stays (=), goes to
// another state (its letter), is discarded (~) or refused (.). docs/protocol.md has the same table.
func TestEveryMessageInEveryState(t *testing.T) {
	letters := map[state]byte{
		stateNew: 'n', stateAttaching: 'g', stateAttached: 'a', stateRequesting: 'r',
		stateWatching: 'w', stateWatched: 'o', stateEnded: 'e', stateClosed: 'c',
	}
	//      attach watch request input ack resize detach cancel focus | attached output result ended refused watching update preview
	table := map[state]string{
		stateNew:        "gwr......|.........",
		stateAttaching:  "..=======|a.=.c....",
		stateAttached:   "..=======|.==e.....",
		stateRequesting: "..=....=.|..=.c....",
		stateWatching:   ".........|....co...",
		stateWatched:    ".........|......===",
		stateEnded:      "~~~~~~c~~|.........",
		stateClosed:     "~~~~~~~~~|.........",
	}
	require.Len(t, table, len(states))
	for s, row := range table {
		got := ""
		for k := kindAttach; k < kindEnd; k++ {
			if k == kindAttached {
				got += "|"
			}
			to, v := s.step(k)
			switch {
			case v == refuse:
				require.Equal(t, s, to, "a refused message changes nothing")
				got += "."
			case v == discard:
				require.Equal(t, s, to, "a discarded message changes nothing")
				got += "~"
			case to == s:
				got += "="
			default:
				got += string(letters[to])
			}
		}
		require.Equal(t, row, got, s.String())
	}
}

// rules is the order in the words of docs/protocol.md, told by what was said so far.
type rules struct {
	first                              kind // what began the conversation, or kindEnd
	attached, ended, refused, detached bool
	watched                            bool
}

func (r rules) allows(k kind) verdict {
	over := r.refused || r.ended && r.detached
	fromClient := k < kindAttached
	switch {
	case over || r.ended && k != kindDetach:
		if fromClient {
			return discard
		}
		return refuse
	case r.ended:
		return accept // the detach that confirms
	case r.first == kindEnd:
		return when(k == kindAttach || k == kindWatch || k == kindRequest)
	case k == kindAttach || k == kindWatch:
		return refuse
	case k == kindRefused:
		return when(!r.attached && !r.watched)
	case k == kindWatching:
		return when(r.first == kindWatch && !r.watched)
	case k == kindUpdate || k == kindPreview || k == kindEvents:
		return when(r.watched)
	case k == kindRequest || k == kindCancel || k == kindResult:
		return when(r.first != kindWatch)
	case k == kindAttached:
		return when(r.first == kindAttach && !r.attached)
	case k == kindOutput || k == kindEnded:
		return when(r.attached)
	}
	return when(r.first == kindAttach) // input, ack, resize, detach, focus
}

func when(ok bool) verdict {
	if ok {
		return accept
	}
	return refuse
}

func (r *rules) say(k kind) {
	if r.first == kindEnd {
		r.first = k
	}
	r.attached = r.attached || k == kindAttached
	r.watched = r.watched || k == kindWatching
	r.detached = r.ended && k == kindDetach
	r.ended = r.ended || k == kindEnded
	r.refused = r.refused || k == kindRefused
}

func TestConversationsKeepToTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, model := stateNew, rules{first: kindEnd}
		t.Repeat(map[string]func(*rapid.T){
			"say": func(t *rapid.T) {
				k := kind(rapid.IntRange(0, int(kindEnd)-1).Draw(t, "kind"))
				before := s
				var got verdict
				s, got = s.step(k)
				require.Equal(t, model.allows(k), got, "%s in %s", k, before)
				if got == accept {
					model.say(k)
				}
			},
		})
	})
}

// tagOfKind has all that a server says, but for what is packed: what is within it has a kind.
var tagOfKind = map[kind]int{
	kindAttached: tagAttached, kindOutput: tagOutput, kindResult: tagResult, kindEnded: tagEnded, kindRefused: tagRefused,
	kindWatching: tagWatching, kindUpdate: tagUpdate, kindPreview: tagPreview, kindEvents: tagEvents,
}

func TestMessagesHaveKinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := genClient().Draw(t, "client message")
		frame, err := appendClient(nil, c)
		require.NoError(t, err)
		tag, _, err := open(frame)
		require.NoError(t, err)
		require.Equal(t, int(tag)-1, int(clientKind(c)))

		s := genServer().Draw(t, "server message")
		frame, err = appendServer(nil, s)
		require.NoError(t, err)
		tag, _, err = open(frame)
		require.NoError(t, err)
		require.Equal(t, int(tag), tagOfKind[serverKind(s)])
	})
	require.Equal(t, kindEnd, clientKind(nil))
	require.Equal(t, kindEnd, serverKind(nil))
}

// An opening saves a round trip, and nothing of the answer is taken for granted.
func TestAnOpening(t *testing.T) {
	begin := func(t *testing.T, first protocol.SessionClientMessage, hello protocol.Hello) (*ClientConn, *ServerConn, error) {
		o, err := Open("vev/1", protocol.FeatureNone, first)
		require.NoError(t, err)
		a, b := net.Pipe()
		served := make(chan *ServerConn, 1)
		go func() {
			_, _ = a.Write(o.Bytes())
		}()
		go func() {
			if hello.Role == 0 {
				s, err := Server(b, "vev/1")
				if err != nil {
					t.Error(err)
				}
				served <- s
				return
			}
			_, _ = streamframe.ServerHandshake(streamframe.NewReader(b), b, hello)
			_ = b.Close()
			served <- nil
		}()
		c, err := o.Client(t.Context(), a)
		return c, <-served, err
	}
	attach := &protocol.Attach{Session: "work", Size: goldenSize}
	c, s, err := begin(t, attach, protocol.Hello{})
	require.NoError(t, err)
	m, err := s.Receive()
	require.NoError(t, err)
	require.Equal(t, "work", m.(*protocol.Attach).Session)
	require.Equal(t, stateAttaching, c.state)
	require.NoError(t, c.Close())

	c, s, err = begin(t, nil, protocol.Hello{})
	require.NoError(t, err)
	go func() { _ = c.Send(attach) }()
	m, err = s.Receive()
	require.NoError(t, err)
	require.Equal(t, "work", m.(*protocol.Attach).Session)
	require.NoError(t, c.Close())

	newer := protocol.NewHello(protocol.SessionServer, "vev/9")
	newer.MinVersion, newer.MaxVersion = 8, 9
	_, _, err = begin(t, attach, newer)
	require.Equal(t, fault.Incompatible, fault.KindOf(err))
	require.ErrorContains(t, err, "8 to 9")

	_, err = Open("vev/1", protocol.FeatureNone, &protocol.Input{Seq: 1})
	require.Equal(t, fault.Usage, fault.KindOf(err))
	long := &protocol.Request{ID: 1, Body: &protocol.Type{Session: "work", Data: make([]byte, protocol.MaxFirstBytes)}}
	_, err = Open("vev/1", protocol.FeatureNone, long)
	require.Equal(t, fault.Limit, fault.KindOf(err))
	body := long.Body.(*protocol.Type)
	for fault.KindOf(err) == fault.Limit {
		body.Data = body.Data[1:]
		o, e := Open("vev/1", protocol.FeatureNone, long)
		if err = e; err == nil {
			require.Len(t, o.Bytes(), protocol.MaxFirstBytes)
			break
		}
	}
	require.NoError(t, err)
}
