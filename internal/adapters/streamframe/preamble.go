package streamframe

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"time"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// ClientHandshake offers ours and waits for the answer; rd reads what w's other end sends, from
// here on. behind are envelopes that go right behind the offer, in the same write: they save a
// round trip, must be of a form that every version knows, and fit what the way holds or the
// other side reads ahead. The error is the rejection's
// fault (Incompatible or Violation, with both sides' versions), a Violation if the answer does
// not keep to the offer, or what the stream gave. The deadline is the caller's: see Within.
func ClientHandshake(rd *Reader, w io.Writer, ours protocol.Hello, behind ...Encode) (*protocol.Agreed, error) {
	if err := Offer(w, ours, behind...); err != nil {
		return nil, err
	}
	return Answered(rd, ours)
}

// Offer is the first half of a ClientHandshake.
func Offer(w io.Writer, ours protocol.Hello, behind ...Encode) error {
	return NewWriter(w).WriteWith(append([]Encode{encodeHello(ours)}, behind...)...)
}

// Answered is the second half of a ClientHandshake: it waits for the answer to an offer that is on its way.
func Answered(rd *Reader, ours protocol.Hello) (*protocol.Agreed, error) {
	body, err := rd.ReadFrame(protocol.MaxPreambleBytes)
	if err != nil {
		return nil, err
	}
	agreed, rejection, err := decodeAnswer(body, ours)
	if rejection != nil {
		return nil, rejection.Fault(ours)
	}
	return agreed, err
}

// ServerHandshake reads an offer from rd, negotiates and answers on w. A refused peer is told
// why before the error comes back: Incompatible when versions do not meet, else Violation.
func ServerHandshake(rd *Reader, w io.Writer, ours protocol.Hello) (*protocol.Agreed, error) {
	body, err := rd.ReadFrame(protocol.MaxPreambleBytes)
	if err != nil {
		if fault.KindOf(err) == fault.Violation {
			tell(w, reject(ours, protocol.RejectLimit, err.Error()))
		}
		return nil, err
	}
	var agreed *protocol.Agreed
	theirs, rejection := decodeHello(body, ours)
	if rejection == nil {
		agreed, rejection = protocol.Negotiate(ours, theirs)
	}
	if rejection != nil {
		tell(w, rejection)
		return nil, refused(rejection, theirs)
	}
	if err := NewWriter(w).WriteWith(encodeAgreed(ours, agreed)); err != nil {
		return nil, err
	}
	return agreed, nil
}

// tell sends a rejection as the last word: whether it arrives changes nothing here.
func tell(w io.Writer, r *protocol.Rejection) { _ = NewWriter(w).WriteWith(encodeRejection(r)) }

// refused is the rejection as the refusing side logs it.
func refused(r *protocol.Rejection, theirs protocol.Hello) *fault.Error {
	kind := fault.Violation
	if r.Code == protocol.RejectVersion || r.Code == protocol.RejectEpoch {
		kind = fault.Incompatible
	}
	return fault.New(kind, "preamble of %q refused: %s", fault.Clean(theirs.Software), r.Text)
}

// RejectDuplicate answers a preamble that came after the first; the connection ends with it.
func RejectDuplicate(w io.Writer, ours protocol.Hello) {
	tell(w, reject(ours, protocol.RejectDuplicate, "a second preamble"))
}

// IsPreamble reports whether an envelope is a PreambleRequest instead: the one message that
// begins with the magic as its field 1.
func IsPreamble(body []byte) bool {
	const tag = 1<<3 | 5 // field 1, fixed32
	return len(body) >= 5 && body[0] == tag && binary.LittleEndian.Uint32(body[1:]) == protocol.Magic
}

// Within runs a handshake on conn under a deadline and clears it afterwards. A conn without
// SetDeadline, or that cannot keep one, runs without: its owner closes it instead. A passed
// deadline is a fault of kind Timeout.
func Within(conn any, deadline time.Time, handshake func() (*protocol.Agreed, error)) (*protocol.Agreed, error) {
	c, ok := conn.(interface{ SetDeadline(time.Time) error })
	if !ok || c.SetDeadline(deadline) != nil {
		return handshake()
	}
	agreed, err := handshake()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, fault.Wrap(fault.Timeout, err, "no complete preamble came in time")
	}
	if err != nil {
		return nil, err
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the connection ended after its preamble")
	}
	return agreed, nil
}

func encodeHello(h protocol.Hello) Encode {
	h.Software = fault.Clean(h.Software)
	return func(dst []byte) ([]byte, error) { return wirefmt.Append(dst, &h, visitHello) }
}

func decodeHello(body []byte, ours protocol.Hello) (protocol.Hello, *protocol.Rejection) {
	var h protocol.Hello
	out := wirefmt.Read(body, &h, visitHello)
	if out.Broken != nil {
		return protocol.Hello{}, reject(ours, protocol.RejectMagic, "the first frame is no preamble")
	}
	if h.Magic == 0 && out.Unknown {
		return protocol.Hello{}, reject(ours, protocol.RejectOutOfOrder, "an envelope came before the preamble")
	}
	h.Software = fault.Clean(h.Software)
	return h, nil
}

func encodeAgreed(ours protocol.Hello, a *protocol.Agreed) Encode {
	accepted := accepted{epoch: ours.Epoch, role: ours.Role, Agreed: *a}
	accepted.Software = fault.Clean(ours.Software)
	return encodeAnswer(answer{ours.Magic, &accepted})
}

func encodeRejection(r *protocol.Rejection) Encode {
	clean := *r
	clean.Text, clean.Software = fault.Clean(r.Text), fault.Clean(r.Software)
	return encodeAnswer(answer{protocol.Magic, &clean})
}

func encodeAnswer(a answer) Encode {
	return func(dst []byte) ([]byte, error) { return wirefmt.Append(dst, &a, visitAnswer) }
}

// decodeAnswer returns what was agreed, or the rejection, or a Violation where the answer
// does not keep to our offer.
func decodeAnswer(body []byte, ours protocol.Hello) (*protocol.Agreed, *protocol.Rejection, error) {
	var m answer
	out := wirefmt.Read(body, &m, visitAnswer)
	if err := cmp.Or(out.Broken, out.Refused); err != nil {
		return nil, nil, fault.Wrap(fault.Violation, err, "the preamble's answer cannot be read")
	}
	if m.magic != ours.Magic {
		return nil, nil, fault.New(fault.Violation, "the answer's magic is %#x, must be %#x", m.magic, ours.Magic)
	}
	switch outcome := m.outcome.(type) {
	case *protocol.Rejection:
		outcome.Text, outcome.Software = fault.Clean(outcome.Text), fault.Clean(outcome.Software)
		return nil, outcome, nil
	case *accepted:
		a, err := checkAccepted(outcome, ours)
		return a, nil, err
	}
	return nil, nil, fault.New(fault.Violation, "the preamble's answer neither accepts nor rejects")
}

func checkAccepted(a *accepted, ours protocol.Hello) (*protocol.Agreed, error) {
	bad := func(what string, got, low, high uint64) error {
		return fault.New(fault.Violation, "the answer's %s is %d, must be %d to %d", what, got, low, high)
	}
	switch v, e, c := a.Version, a.MaxEnvelope, a.MaxChunk; {
	case a.epoch != ours.Epoch:
		return nil, bad("epoch", uint64(a.epoch), uint64(ours.Epoch), uint64(ours.Epoch))
	case a.role != ours.Role.Peer():
		return nil, fault.New(fault.Violation, "a %s called a %s", ours.Role, a.role)
	case v < ours.MinVersion || v > ours.MaxVersion:
		return nil, bad("version", uint64(v), uint64(ours.MinVersion), uint64(ours.MaxVersion))
	case e < protocol.MinEnvelopeCeiling || e > ours.MaxEnvelope:
		return nil, bad("envelope ceiling", uint64(e), protocol.MinEnvelopeCeiling, uint64(ours.MaxEnvelope))
	case c < protocol.MinChunkCeiling || c > ours.MaxChunk:
		return nil, bad("chunk ceiling", uint64(c), protocol.MinChunkCeiling, uint64(ours.MaxChunk))
	case a.Features&^ours.Features != 0:
		return nil, fault.New(fault.Violation, "the answer has features %#x that were not offered", a.Features&^ours.Features)
	}
	agreed := a.Agreed
	agreed.Software = fault.Clean(agreed.Software)
	return &agreed, nil
}

func reject(ours protocol.Hello, code protocol.RejectCode, text string) *protocol.Rejection {
	return &protocol.Rejection{
		Code: code, MinVersion: ours.MinVersion, MaxVersion: ours.MaxVersion, Text: text, Software: ours.Software,
	}
}
