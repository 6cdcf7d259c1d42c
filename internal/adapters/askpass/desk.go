package askpass

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// IDVariable is where a helper finds the id of its dial.
	IDVariable = "VEV_ASKPASS"
	// maxQuestion bounds what a helper may say; a person is shown fault.MaxText of it.
	maxQuestion = 4 << 10

	idDigits = 32
	yes, no  = "+", "-"
)

// Desk takes questions of helpers. Any goroutine may call its methods.
type Desk struct {
	program string

	mu    sync.Mutex // a leaf
	dials map[string]dial
}

// dial is one ssh that may ask.
type dial struct {
	ctx  context.Context // ends with it
	host string
	ask  ports.Ask
}

// NewDesk returns a desk for helpers that are started as program, a path.
func NewDesk(program string) *Desk { return &Desk{program: program, dials: map[string]dial{}} }

// Open makes the questions of one ssh go to ask, until done is called; ssh needs env for that.
func (d *Desk) Open(ctx context.Context, host string, ask ports.Ask) (env []string, done func()) {
	raw := make([]byte, idDigits/2)
	_, _ = rand.Read(raw) // never fails
	id := hex.EncodeToString(raw)
	ctx, cancel := context.WithCancel(ctx)
	d.mu.Lock()
	d.dials[id] = dial{ctx, host, ask}
	d.mu.Unlock()
	env = []string{"SSH_ASKPASS=" + d.program, "SSH_ASKPASS_REQUIRE=force", IDVariable + "=" + id}
	if os.Getenv("DISPLAY") == "" {
		env = append(env, "DISPLAY=none") // before 8.4 ssh asked nobody without one
	}
	return env, func() {
		cancel()
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.dials, id)
	}
}

// Serve answers one helper and closes conn. The error is a Violation for what is no question of a
// dial that is under way, or the connection's; an answer that nobody gave is none.
func (d *Desk) Serve(conn net.Conn) error {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(protocol.HandshakeTimeout))
	said, err := io.ReadAll(io.LimitReader(conn, idDigits+maxQuestion))
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "a question did not come whole")
	}
	id := said[:min(len(said), idDigits)]
	d.mu.Lock()
	asking, ok := d.dials[string(id)]
	d.mu.Unlock()
	if !ok {
		return fault.New(fault.Violation, "a question that belongs to no dial")
	}
	answer, err := asking.ask(asking.ctx, question(asking.host, string(said[idDigits:])))
	_ = conn.SetDeadline(time.Now().Add(protocol.HandshakeTimeout))
	if err != nil {
		_, err = io.WriteString(conn, no)
		return err
	}
	_, err = conn.Write(append([]byte(yes), answer...))
	clear(answer)
	return err
}

// question is ssh's text for a person. What is answered with a word may be seen while it is typed.
func question(host, text string) protocol.Prompt {
	return protocol.Prompt{Host: host, Text: strings.TrimSpace(fault.Clean(text)), Echo: strings.Contains(text, "(yes/no")}
}

// Question is the helper's part on a connection to the desk, which it closes: it returns the answer to
// text. Canceled: there is none.
func Question(conn *net.UnixConn, id, text string) ([]byte, error) {
	defer conn.Close()
	if len(text) > maxQuestion {
		text = text[:maxQuestion]
	}
	if _, err := io.WriteString(conn, id+text); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the broker takes no question")
	}
	if err := conn.CloseWrite(); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the broker takes no question")
	}
	said, err := io.ReadAll(io.LimitReader(conn, int64(len(yes))+protocol.MaxAnswerBytes))
	if answer, ok := strings.CutPrefix(string(said), yes); ok && err == nil {
		return []byte(answer), nil
	}
	return nil, fault.Wrap(fault.Canceled, err, "the question was not answered")
}
