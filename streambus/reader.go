package streambus

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Reader reads the messages of a stream that WriteMessage wrote.
type Reader struct {
	from  *bufio.Reader
	limit int // bytes of a payload
	topic string
	err   error
}

// NewReader returns a reader that refuses payloads of more than maxPayload bytes before it
// has memory for them. It may read from r ahead of what it has returned.
func NewReader(r io.Reader, maxPayload int) (*Reader, error) {
	if maxPayload < 0 {
		return nil, &OptionError{"maxPayload", fmt.Sprintf("%d is negative", maxPayload)}
	}
	return &Reader{from: bufio.NewReader(r), limit: maxPayload}, nil
}

// Next returns the next message, whose memory is the caller's. At the stream's end it returns
// io.EOF, within a message io.ErrUnexpectedEOF. After an error, of whatever kind, the place in the stream is
// lost: every further call returns the same one.
func (r *Reader) Next() (Message, error) {
	if r.err != nil {
		return Message{}, r.err
	}
	m, err := r.next()
	if err != nil {
		r.err = err
		return Message{}, err
	}
	return m, nil
}

func (r *Reader) next() (Message, error) {
	size, err := r.size()
	if err != nil {
		return Message{}, err
	}
	if size > uint64(r.limit)+headBytes {
		return Message{}, &PayloadError{size - headBytes, uint64(r.limit)}
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(r.from, b); err != nil {
		return Message{}, unexpected(err)
	}
	topic, m, err := decode(b)
	if err != nil {
		return Message{}, err
	}
	if len(m.Payload) > r.limit {
		return Message{}, &PayloadError{uint64(len(m.Payload)), uint64(r.limit)}
	}
	if r.topic == "" || string(topic) != r.topic { // the same one again is checked, and has its memory
		r.topic = string(topic)
		err = ValidTopic(r.topic)
	}
	m.Topic = r.topic
	return m, err
}

// size reads the number before a message; uvarint refuses one that is too long.
func (r *Reader) size() (uint64, error) {
	var b [binary.MaxVarintLen64]byte
	n := 0
	for n < len(b) {
		c, err := r.from.ReadByte()
		if err != nil && n > 0 {
			err = unexpected(err)
		}
		if err != nil {
			return 0, err
		}
		b[n] = c
		n++
		if c < 0x80 {
			break
		}
	}
	size, _, err := uvarint(b[:n])
	return size, err
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
