package quic

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
)

// identity is a key and a certificate that nobody signed but itself: who knows its hash, or its key, knows it.
type identity struct {
	key    ed25519.PrivateKey
	cert   tls.Certificate
	public []byte // the key's public half, SubjectPublicKeyInfo in DER
}

// fingerprint is the SHA-256 of a certificate, or of a public key.
type fingerprint [sha256.Size]byte

func newIdentity() (*identity, error) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "cannot make a key")
	}
	// Its life is not told by its dates: nobody looks at them, and clocks differ.
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "cannot make a certificate")
	}
	spki, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "cannot encode a key")
	}
	return &identity{key: key, cert: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, public: spki}, nil
}

// pin is what the other side must know to recognise it.
func (i *identity) pin() fingerprint { return sha256.Sum256(i.cert.Certificate[0]) }

// erase makes it useless.
func (i *identity) erase() { clear(i.key) }

// theirs is the one certificate that the other side has shown.
func theirs(s tls.ConnectionState) (*x509.Certificate, error) {
	if n := len(s.PeerCertificates); n != 1 {
		return nil, fault.New(fault.Denied, "%d certificates were shown, must be 1", n)
	}
	return s.PeerCertificates[0], nil
}

// isPinned accepts one certificate and no other.
func isPinned(s tls.ConnectionState, pin fingerprint) error {
	cert, err := theirs(s)
	if err != nil {
		return err
	}
	got := fingerprint(sha256.Sum256(cert.Raw))
	if subtle.ConstantTimeCompare(got[:], pin[:]) != 1 {
		return fault.New(fault.Denied, "what answers there is not the proxy that ssh led to")
	}
	return nil
}

// serverTLS is the proxy's side: nothing is resumed, nothing is sent before the handshake, and known decides on the key
// that the other side has shown.
func (i *identity) serverTLS(known func(tls.ConnectionState) error) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{alpnRepeats, alpn}, Certificates: []tls.Certificate{i.cert},
		ClientAuth: tls.RequireAnyClientCert, SessionTicketsDisabled: true, VerifyConnection: known,
	}
}

// clientTLS is the broker's side. The chain is not looked at: the pin says more than any authority could.
func (i *identity) clientTLS(verify func(tls.ConnectionState) error) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{alpnRepeats, alpn}, Certificates: []tls.Certificate{i.cert},
		InsecureSkipVerify: true, SessionTicketsDisabled: true, VerifyConnection: verify,
	}
}
