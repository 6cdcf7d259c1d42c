package quic

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
)

// tokens are what brokers are let in with that the proxy does not know yet: each is good once, for tokenLifetime.
type tokens struct {
	mu    sync.Mutex // a leaf
	valid []*token   // oldest first; at most maxTokens
}

type token struct {
	nonce   [nonceBytes]byte
	secret  [tokenBytes]byte
	expires *time.Timer
}

// issue makes a token.
func (t *tokens) issue() (nonce [nonceBytes]byte, secret [tokenBytes]byte) {
	made := new(token)
	_, _ = rand.Read(made.nonce[:]) // never fails
	_, _ = rand.Read(made.secret[:])
	nonce, secret = made.nonce, made.secret
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.valid) == maxTokens {
		t.erase(0)
	}
	t.valid = append(t.valid, made)
	made.expires = time.AfterFunc(tokenLifetime, func() { t.expire(made) })
	return nonce, secret
}

// outstanding reports whether anybody may come with a token.
func (t *tokens) outstanding() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.valid) > 0
}

// spend lets one who comes in, once. A wrong secret spends nothing.
func (t *tokens) spend(nonce [nonceBytes]byte, secret [tokenBytes]byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, valid := range t.valid {
		if !bytes.Equal(valid.nonce[:], nonce[:]) {
			continue
		}
		if subtle.ConstantTimeCompare(valid.secret[:], secret[:]) != 1 {
			break
		}
		t.erase(i)
		return nil
	}
	return fault.New(fault.Denied, "the token is wrong, was used, or has expired")
}

func (t *tokens) expire(old *token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, valid := range t.valid {
		if valid == old {
			t.erase(i)
			return
		}
	}
}

// erase forgets the token at i, with mu held.
func (t *tokens) erase(i int) {
	t.valid[i].expires.Stop()
	clear(t.valid[i].secret[:])
	t.valid = append(t.valid[:i], t.valid[i+1:]...)
}

// close erases all.
func (t *tokens) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.valid) > 0 {
		t.erase(0)
	}
}
