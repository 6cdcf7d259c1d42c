package brokerwire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every state of a connection with two pings, of which one was answered, x every event.
func TestPingMatrix(t *testing.T) {
	var b strings.Builder
	for _, e := range []struct {
		name string
		do   func(m *Machine) string
	}{
		{"we ping", func(m *Machine) string { _, err := m.Ping(); return outcome(Proceed, err) }},
		{"peer pings", func(m *Machine) string { v, err := m.PeerPing(3); return outcome(v, err) }},
		{"peer pings again", func(m *Machine) string { v, err := m.PeerPing(2); return outcome(v, err) }},
		{"peer leaves a ping out", func(m *Machine) string { v, err := m.PeerPing(4); return outcome(v, err) }},
		{"peer answers", func(m *Machine) string { v, err := m.PeerPong(2); return outcome(v, err) }},
		{"peer answers again", func(m *Machine) string { v, err := m.PeerPong(1); return outcome(v, err) }},
		{"peer answers what was not sent", func(m *Machine) string { v, err := m.PeerPong(3); return outcome(v, err) }},
	} {
		fmt.Fprintf(&b, "%s:", e.name)
		for conn := ConnNew; conn <= ConnClosed; conn++ {
			m := NewMachine()
			m.conn, m.pings, m.pongs = conn, 2, 1
			fmt.Fprintf(&b, " %s", e.do(m))
		}
		b.WriteString("\n")
	}
	require.Equal(t, `we ping: unavailable proceed unavailable unavailable
peer pings: violation proceed proceed discard
peer pings again: violation violation violation discard
peer leaves a ping out: violation violation violation discard
peer answers: violation proceed proceed discard
peer answers again: violation violation violation discard
peer answers what was not sent: violation violation violation discard
`, b.String())
}
