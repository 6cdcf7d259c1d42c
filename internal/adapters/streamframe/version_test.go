package streamframe

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

var update = flag.Bool("update", false, "write testdata/preamble1.txt anew, for new lines only")

const goldenFile = "testdata/preamble1.txt"

// released is what a vev of version 1 says in each preamble that it can say, as it is encoded for ever.
func released() [][2]string {
	one := func(role protocol.Role, features uint64) protocol.Hello {
		return protocol.Hello{
			Magic: protocol.Magic, Epoch: 1, MinVersion: 1, MaxVersion: 1, Role: role,
			MaxEnvelope: 16 << 20, MaxChunk: 64 << 10, Features: features, Software: "vev 1.0",
		}
	}
	agreed := func(role protocol.Role) Encode {
		return encodeAgreed(one(role, 0), &protocol.Agreed{Version: 1, MaxEnvelope: 16 << 20, MaxChunk: 64 << 10})
	}
	reject := func(role protocol.Role) Encode {
		return encodeRejection(&protocol.Rejection{
			Code: protocol.RejectVersion, MinVersion: 1, MaxVersion: 1, Text: "versions 2 to 4 and 1 to 1 do not meet", Software: one(role, 0).Software,
		})
	}
	var lines [][2]string
	add := func(name string, e Encode) {
		var b bytes.Buffer
		err := NewWriter(&b).WriteWith(e)
		lines = append(lines, [2]string{name, fmt.Sprintf("%x%s", b.Bytes(), map[bool]string{false: fmt.Sprint(" ", err)}[err == nil])})
	}
	add("session client offers", encodeHello(one(protocol.SessionClient, 1<<1))) // packed envelopes, as they were then
	add("session server agrees", agreed(protocol.SessionServer))
	add("session server rejects", reject(protocol.SessionServer))
	add("broker client offers", encodeHello(one(protocol.BrokerClient, protocol.FeatureShortRefs|protocol.FeaturePrompts)))
	add("broker server agrees", agreed(protocol.BrokerServer))
	add("broker server rejects", reject(protocol.BrokerServer))
	return lines
}

// frozen reads the golden file: frames by name.
func frozen(t *testing.T) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(goldenFile)
	require.NoError(t, err)
	frames := map[string][]byte{}
	for line := range strings.Lines(string(text)) {
		if name, bytes, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && name[0] != '#' {
			frames[name], err = hex.DecodeString(bytes)
			require.NoError(t, err)
		}
	}
	return frames
}

// The bytes of a released version's preambles may never change.
func TestThePreamblesOfVersion1(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Each preamble of a vev of version 1, as a frame: name, hex. Never edit a line.\n")
	for _, line := range released() {
		fmt.Fprintf(&b, "%s: %s\n", line[0], line[1])
	}
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(goldenFile, []byte(b.String()), 0o644))
	}
	text, err := os.ReadFile(goldenFile)
	require.NoError(t, err)
	require.Equal(t, string(text), b.String())
}

// peer is a vev with a range of versions, ours or another one's.
func peer(role protocol.Role, low, high uint32) protocol.Hello {
	h := protocol.NewHello(role, "vev 9.0")
	h.MinVersion, h.MaxVersion = low, high
	return h
}

// ends reads from one and writes to the other.
type ends struct {
	in  *bytes.Reader
	out bytes.Buffer
}

func (w *ends) Read(p []byte) (int, error)  { return w.in.Read(p) }
func (w *ends) Write(p []byte) (int, error) { return w.out.Write(p) }

// A released vev of version 1 meets vevs with other ranges: those that overlap work with version 1, with the others both
// sides' versions are named and it is said which one to upgrade.
func TestAReleasedVevMeetsOthers(t *testing.T) {
	frames := frozen(t)
	for name, c := range map[string]struct {
		low, high uint32
		hint      string // of the other one, where they do not meet
	}{
		"the same":          {1, 1, ""},
		"overlapping":       {1, 3, ""},
		"overlapping below": {0, 1, ""},
		"higher":            {2, 4, "is older"},
		"lower":             {0, 0, "this vev is older"},
	} {
		for _, roles := range [][2]protocol.Role{{protocol.SessionClient, protocol.SessionServer}, {protocol.BrokerClient, protocol.BrokerServer}} {
			t.Run(fmt.Sprint(name, ", ", roles[0]), func(t *testing.T) {
				// Version 1 calls.
				w := &ends{in: bytes.NewReader(frames[roles[0].String()+" offers"])}
				agreed, err := ServerHandshake(NewReader(w), w, peer(roles[1], c.low, c.high))
				checkMeeting(t, agreed, err, c.hint == "")
				if c.hint != "" {
					_, rejection, err := decodeAnswer(w.out.Bytes()[HeaderBytes:], peer(roles[0], 1, 1))
					require.NoError(t, err)
					told := rejection.Fault(peer(roles[0], 1, 1))
					require.Contains(t, told.Msg, fmt.Sprintf("vev 9.0 speaks versions %d to %d, this is", c.low, c.high))
					require.NotEmpty(t, told.Hint)
				}
				// Version 1 is called. It agrees exactly if the ranges meet.
				answer := " agrees"
				if c.hint != "" {
					answer = " rejects"
				}
				w = &ends{in: bytes.NewReader(frames[roles[1].String()+answer])}
				agreed, err = ClientHandshake(NewReader(w), w, peer(roles[0], c.low, c.high))
				checkMeeting(t, agreed, err, c.hint == "")
				if c.hint != "" {
					require.ErrorContains(t, err, fmt.Sprintf("vev 1.0 speaks versions 1 to 1, this is vev 9.0 with versions %d to %d", c.low, c.high))
					require.Contains(t, err.(*fault.Error).Hint, c.hint)
				}
			})
		}
	}
}

func checkMeeting(t *testing.T, agreed *protocol.Agreed, err error, meets bool) {
	t.Helper()
	if meets {
		require.NoError(t, err)
		require.EqualValues(t, 1, agreed.Version)
		return
	}
	require.Equal(t, fault.Incompatible, fault.KindOf(err))
}

// Today's vev still speaks version 1, as a caller and as one that is called.
func TestThisVevSpeaksToAReleasedOne(t *testing.T) {
	frames := frozen(t)
	w := &ends{in: bytes.NewReader(frames["broker client offers"])}
	agreed, err := ServerHandshake(NewReader(w), w, protocol.NewHello(protocol.BrokerServer, "now"))
	require.NoError(t, err)
	require.EqualValues(t, 1, agreed.Version)
	require.Equal(t, "vev 1.0", agreed.Software)
	w = &ends{in: bytes.NewReader(frames["session server agrees"])}
	agreed, err = ClientHandshake(NewReader(w), w, protocol.NewHello(protocol.SessionClient, "now"))
	require.NoError(t, err)
	require.EqualValues(t, 1, agreed.Version)
}
