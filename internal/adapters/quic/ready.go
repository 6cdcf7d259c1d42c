package quic

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	tokenBytes = 32
	nonceBytes = 16
	// readySchema is the only form of the line there is.
	readySchema = 1
)

// invitation is what the proxy offers to who comes through ssh: where it listens, how it is recognised, and the token
// that lets one broker in, once. The nonce tells which token, and is no secret.
type invitation struct {
	port    uint16
	pin     fingerprint
	token   [tokenBytes]byte
	nonce   [nonceBytes]byte
	expires time.Duration // from when it was made; more than 0, at most tokenLifetime
}

// readyLine is an invitation as one line of JSON (docs/protocol.md, Over QUIC).
type readyLine struct {
	Schema      int    `json:"schema"`
	Port        int    `json:"port"`
	Certificate []byte `json:"certificate"`
	Token       []byte `json:"token"`
	Nonce       []byte `json:"nonce"`
	ExpiresMS   int64  `json:"expires_ms"`
}

func (i *invitation) line() ([]byte, error) {
	b, err := json.Marshal(readyLine{
		readySchema, int(i.port), i.pin[:], i.token[:], i.nonce[:], i.expires.Milliseconds(),
	})
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the readiness line cannot be encoded")
	}
	return append(b, '\n'), nil
}

// parseReady reads a readiness line, without its end or with it. Members that are not known are ignored.
func parseReady(line []byte) (*invitation, error) {
	if len(line) > MaxReadyBytes {
		return nil, notReady("it has %d bytes, %d over the limit of %d", len(line), len(line)-MaxReadyBytes, MaxReadyBytes)
	}
	var r readyLine
	if err := json.Unmarshal(bytes.TrimRight(line, "\n"), &r); err != nil {
		return nil, fault.Wrap(fault.Violation, err, "the readiness line is no JSON")
	}
	defer clear(r.Token)
	i := &invitation{port: uint16(r.Port), expires: time.Duration(r.ExpiresMS) * time.Millisecond}
	switch {
	case r.Schema != readySchema:
		return nil, notReady("its schema is %d, must be %d", r.Schema, readySchema)
	case r.Port < 1 || r.Port > 65535:
		return nil, notReady("its port is %d", r.Port)
	case len(r.Certificate) != len(i.pin):
		return nil, notReady("its certificate hash has %d bytes, must have %d", len(r.Certificate), len(i.pin))
	case len(r.Token) != tokenBytes:
		return nil, notReady("its token has %d bytes, must have %d", len(r.Token), tokenBytes)
	case len(r.Nonce) != nonceBytes:
		return nil, notReady("its nonce has %d bytes, must have %d", len(r.Nonce), nonceBytes)
	case r.ExpiresMS < 1 || r.ExpiresMS > tokenLifetime.Milliseconds():
		return nil, notReady("it expires after %d ms, must be 1 to %d", r.ExpiresMS, tokenLifetime.Milliseconds())
	}
	copy(i.pin[:], r.Certificate)
	copy(i.token[:], r.Token)
	copy(i.nonce[:], r.Nonce)
	return i, nil
}

func notReady(format string, args ...any) error {
	return fault.New(fault.Violation, "the readiness line is wrong: "+format, args...)
}
