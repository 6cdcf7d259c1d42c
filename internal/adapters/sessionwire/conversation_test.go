package sessionwire

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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
