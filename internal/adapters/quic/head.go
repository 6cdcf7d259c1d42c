package quic

import (
	"encoding/binary"
	"io"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// A logical stream is a QUIC stream that begins with one frame in each direction: OpenStream, and StreamOpened or
// StreamClosed, as in the broker conversation. They refer to the stream that they are on: no scope, and its number.

func refOf(number int64) protocol.StreamRef {
	return protocol.StreamRef{ID: protocol.StreamID(number / 4)} // a client's streams in both directions are every fourth
}

func appendOpen(number int64, host string, start protocol.StartPolicy) ([]byte, error) {
	return frame(func(b []byte) ([]byte, error) {
		return brokerwire.AppendClient(b, &protocol.OpenStream{Ref: refOf(number), Host: host, Start: start})
	})
}

func appendOpened(number int64) ([]byte, error) {
	return frame(func(b []byte) ([]byte, error) {
		return brokerwire.AppendServer(b, &protocol.StreamOpened{Ref: refOf(number)})
	})
}

func appendRefused(number int64, f protocol.Failure) ([]byte, error) {
	return frame(func(b []byte) ([]byte, error) {
		return brokerwire.AppendServer(b, &protocol.StreamClosed{Ref: refOf(number), Failure: &f})
	})
}

func frame(encode func([]byte) ([]byte, error)) ([]byte, error) {
	b, err := encode(make([]byte, 4, 128))
	if err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b, nil
}

// readOpen reads how a stream begins at the proxy, and not a byte more. The error is a Violation, or the reader's.
func readOpen(r io.Reader, number int64) (*protocol.OpenStream, error) {
	body, err := readSized(r, make([]byte, maxHeadBytes))
	if err != nil {
		return nil, err
	}
	m, err := brokerwire.DecodeClient(body)
	if err != nil {
		return nil, err
	}
	open, ok := m.(*protocol.OpenStream)
	if !ok || open.Ref != refOf(number) {
		return nil, fault.New(fault.Violation, "stream %d begins with %T of stream %d", number/4, m, openRef(open))
	}
	return open, nil
}

func openRef(m *protocol.OpenStream) protocol.StreamID {
	if m == nil {
		return 0
	}
	return m.Ref.ID
}

// readAnswer reads the answer to an OpenStream, and not a byte more: nil if the stream is granted, the failure of a
// refusal, a Violation, or the reader's error.
func readAnswer(r io.Reader, number int64) error {
	body, err := readSized(r, make([]byte, maxHeadBytes))
	if err != nil {
		return err
	}
	m, err := brokerwire.DecodeServer(body)
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case *protocol.StreamOpened:
		if m.Ref == refOf(number) && !m.Direct {
			return nil
		}
	case *protocol.StreamClosed:
		if m.Ref == refOf(number) && m.Failure != nil {
			return m.Failure.Fault()
		}
	}
	return fault.New(fault.Violation, "stream %d was answered with %T", number/4, m)
}
