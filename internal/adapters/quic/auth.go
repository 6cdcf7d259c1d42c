package quic

import (
	"encoding/binary"
	"io"

	"github.com/vev-term/vev/internal/domain/fault"
)

// authMagic begins what follows the length of an authentication record.
const authMagic = "VEVA"

const authFixed = len(authMagic) + nonceBytes + tokenBytes

// authRecord is what a broker that comes for the first time says before all else.
type authRecord struct {
	nonce  [nonceBytes]byte
	token  [tokenBytes]byte
	public []byte // SubjectPublicKeyInfo of the key it will come back with, and has shown a certificate of
}

// append encodes the record: a length of 4 bytes, big endian, then magic, nonce, token and public key.
func (a *authRecord) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(authFixed+len(a.public)))
	b = append(b, authMagic...)
	b = append(b, a.nonce[:]...)
	b = append(b, a.token[:]...)
	return append(b, a.public...)
}

// readAuth reads a record and not a byte more. The error is a Violation, or the reader's.
func readAuth(r io.Reader) (*authRecord, error) {
	var buf [maxAuthBytes]byte
	defer clear(buf[:])
	body, err := readSized(r, buf[:])
	if err != nil {
		return nil, err
	}
	if len(body) <= authFixed || string(body[:len(authMagic)]) != authMagic {
		return nil, fault.New(fault.Violation, "%d bytes are no authentication record", len(body))
	}
	a := &authRecord{public: append([]byte(nil), body[authFixed:]...)}
	copy(a.nonce[:], body[len(authMagic):])
	copy(a.token[:], body[len(authMagic)+nonceBytes:])
	return a, nil
}

// readSized reads a length of 4 bytes and as much behind it into buf, which has room for both at most.
func readSized(r io.Reader, buf []byte) ([]byte, error) {
	const head = 4
	if _, err := io.ReadFull(r, buf[:head]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(buf)
	if limit := uint32(len(buf) - head); n == 0 || n > limit {
		return nil, fault.New(fault.Violation, "%d bytes were announced; 1 to %d may be", n, limit)
	}
	body := buf[head : head+n]
	_, err := io.ReadFull(r, body)
	return body, err
}
