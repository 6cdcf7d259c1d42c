package quic

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	quicgo "github.com/quic-go/quic-go"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// maxStreams is how many logical streams a connection may have, as everywhere.
const maxStreams = protocol.MaxStreams

// serve is one connection, from its handshake to its end.
func (p *Proxy) serve(conn *quicgo.Conn) {
	if h, ok := conn.Context().Value(handshakeKey{}).(handshake); ok {
		h.done()
	}
	err := p.converse(conn)
	code := quicgo.ApplicationErrorCode(codeDone)
	switch fault.KindOf(err) {
	case fault.Denied:
		code = codeRefused
	case fault.Limit, fault.Timeout:
		code = codeLimit
	case fault.Violation:
		code = codeBroken
	default:
		err = nil // it went, or was sent away in order
	}
	if err != nil {
		p.o.Log.Warn("a connection was closed", "from", conn.RemoteAddr().String(), "why", err)
	}
	_ = conn.CloseWithError(code, "")
}

// converse lets a connection in and serves it.
func (p *Proxy) converse(conn *quicgo.Conn) error {
	cert, err := theirs(conn.ConnectionState().TLS)
	if err != nil {
		return err
	}
	key := fingerprint(sha256.Sum256(cert.RawSubjectPublicKeyInfo))
	var control *quicgo.Stream
	if p.leases.knows(key, time.Now()) {
		ctx, cancel := context.WithTimeout(p.serving, protocol.HandshakeTimeout)
		control, err = conn.AcceptStream(ctx)
		cancel()
	} else {
		control, err = p.stranger(conn, cert)
	}
	if err != nil {
		return late(err)
	}
	m, excess := p.leases.join(key, conn)
	if m == nil {
		return fault.New(fault.Denied, "the key is known no more")
	}
	defer func() { p.leases.leave(m, time.Now()) }()
	p.sendAway(excess)
	c := &carriage{stream: newStream(control, new(traffic)), conn: conn, grace: closeGrace}
	talk, err := p.o.Accept(p.serving, c)
	if err != nil {
		return err
	}
	return p.o.Serve(p.serving, p.newServed(conn, talk, m))
}

// sendAway closes a connection that is one too many.
func (p *Proxy) sendAway(conn *quicgo.Conn) {
	if conn != nil {
		_ = conn.CloseWithError(codeLimit, "")
	}
}

// stranger lets one in that comes with a token, and returns its control stream behind the record. It may open no other
// stream before.
func (p *Proxy) stranger(conn *quicgo.Conn, cert *x509.Certificate) (*quicgo.Stream, error) {
	p.sendAway(p.leases.wait(conn))
	defer p.leases.waited(conn)
	deadline := time.Now().Add(authTimeout)
	ctx, cancel := context.WithDeadline(p.serving, deadline)
	defer cancel()
	control, err := conn.AcceptStream(ctx)
	if err != nil {
		return nil, err
	}
	second, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop()
	watch.Go(func() {
		if _, err := conn.AcceptStream(second); err == nil {
			_ = conn.CloseWithError(codeBroken, "")
		}
	})
	_ = control.SetReadDeadline(deadline)
	record, err := readAuth(control)
	if err != nil {
		return nil, err
	}
	defer clear(record.token[:])
	if !bytes.Equal(record.public, cert.RawSubjectPublicKeyInfo) {
		return nil, fault.New(fault.Denied, "the key of the record is not the one that was shown")
	}
	if err := p.tokens.spend(record.nonce, record.token); err != nil {
		return nil, err
	}
	if err := p.leases.grant(sha256.Sum256(record.public), time.Now()); err != nil {
		return nil, err
	}
	return control, control.SetReadDeadline(time.Time{})
}

// late is an error of what was waited for, as a fault where that is the other side's.
func late(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(fault.Timeout, err, "who connected did not say in time who it is")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Wrap(fault.Violation, err, "the authentication record is cut short")
	}
	return err
}
