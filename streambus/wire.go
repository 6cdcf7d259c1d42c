package streambus

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The wire format, version 1. A message is
//
//	version    1 byte, 1
//	flags      1 byte: bit 0 best effort, bit 1 bulk; the others are 0
//	sequence   unsigned varint, not 0
//	length     unsigned varint, of the topic
//	topic      that many bytes
//	payload    the rest
//
// A datagram carries one message and nothing else. On a stream each is preceded by its size as an
// unsigned varint. Varints are as short as they can be: a message has one encoding.
const (
	wireVersion = 1

	flagBestEffort = 1 << 0
	flagBulk       = 1 << 1
	knownFlags     = flagBestEffort | flagBulk

	// headBytes is the most that a message is larger than its payload.
	headBytes = 2 + 2*binary.MaxVarintLen64 + MaxTopicBytes
)

// EncodeMessage returns m as one datagram carries it.
func EncodeMessage(m Message) ([]byte, error) {
	return AppendMessage(make([]byte, 0, headBytes+len(m.Payload)), m)
}

// AppendMessage appends what EncodeMessage returns to b. It does not allocate if b has room.
func AppendMessage(b []byte, m Message) ([]byte, error) {
	if err := ValidTopic(m.Topic); err != nil {
		return b, err
	}
	switch {
	case m.Reliability >= reliabilities:
		return b, &OptionError{"Reliability", m.Reliability.String()}
	case m.Priority >= priorities:
		return b, &OptionError{"Priority", m.Priority.String()}
	case m.Sequence == 0:
		return b, &OptionError{"Sequence", "it is 0: the message was never published"}
	}
	var flags byte
	if m.Reliability == BestEffort {
		flags |= flagBestEffort
	}
	if m.Priority == Bulk {
		flags |= flagBulk
	}
	b = append(b, wireVersion, flags)
	b = binary.AppendUvarint(b, m.Sequence)
	b = binary.AppendUvarint(b, uint64(len(m.Topic)))
	b = append(b, m.Topic...)
	return append(b, m.Payload...), nil
}

// DecodeMessage reads what EncodeMessage wrote, all of b. The payload is a part of b. An error is
// a *FormatError, or the *TopicError of the topic.
func DecodeMessage(b []byte) (Message, error) {
	topic, m, err := decode(b)
	if err == nil {
		m.Topic = string(topic)
		err = ValidTopic(m.Topic)
	}
	if err != nil {
		return Message{}, err
	}
	return m, nil
}

// decode reads all but the topic, whose bytes it returns unchecked.
func decode(b []byte) (topic []byte, m Message, err error) {
	switch {
	case len(b) < 2:
		return nil, m, &FormatError{"it ends within its head"}
	case b[0] != wireVersion:
		return nil, m, &FormatError{fmt.Sprintf("version %d, this is version %d", b[0], wireVersion)}
	case b[1]&^knownFlags != 0:
		return nil, m, &FormatError{fmt.Sprintf("flags %#x, of which %#x are unknown", b[1], b[1]&^knownFlags)}
	}
	if b[1]&flagBestEffort != 0 {
		m.Reliability = BestEffort
	}
	if b[1]&flagBulk != 0 {
		m.Priority = Bulk
	}
	rest := b[2:]
	if m.Sequence, rest, err = uvarint(rest); err != nil {
		return nil, m, err
	}
	if m.Sequence == 0 {
		return nil, m, &FormatError{"its sequence is 0"}
	}
	n, rest, err := uvarint(rest)
	switch {
	case err != nil:
		return nil, m, err
	case n > MaxTopicBytes:
		return nil, m, &FormatError{fmt.Sprintf("a topic of %d bytes, the limit is %d", n, MaxTopicBytes)}
	case n > uint64(len(rest)):
		return nil, m, &FormatError{"it ends within its topic"}
	}
	m.Payload = rest[n:len(rest):len(rest)]
	return rest[:n], m, nil
}

// uvarint takes one off b.
func uvarint(b []byte) (v uint64, rest []byte, err error) {
	v, n := binary.Uvarint(b)
	switch {
	case n == 0:
		return 0, nil, &FormatError{"it ends within a number"}
	case n < 0:
		return 0, nil, &FormatError{"a number of more than 64 bits"}
	case n > 1 && b[n-1] == 0:
		return 0, nil, &FormatError{"a number that is longer than it need be"}
	}
	return v, b[n:], nil
}

// WriteMessage writes m to a stream, its size first, in one Write.
func WriteMessage(w io.Writer, m Message) error {
	// The size is known when the rest is: it is put in front of it, against its end.
	const front = binary.MaxVarintLen64
	b, err := AppendMessage(make([]byte, front, front+headBytes+len(m.Payload)), m)
	if err != nil {
		return err
	}
	var size [binary.MaxVarintLen64]byte
	k := binary.PutUvarint(size[:], uint64(len(b)-front))
	copy(b[front-k:], size[:k])
	_, err = w.Write(b[front-k:])
	return err
}
