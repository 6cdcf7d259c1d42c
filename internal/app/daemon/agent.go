package daemon

import (
	"strings"

	"github.com/vev-term/vev/internal/protocol"
)

// agentVariable is where ssh and its like find the agent's socket.
const agentVariable = "SSH_AUTH_SOCK"

// agentPlace puts the session's own place into env where its creator had an agent, so that
// programs which started before a new login find the new login's agent. It returns what the
// creator had.
func (s *session) agentPlace(env []string) (found string) {
	if s.d.o.Agents == nil {
		return ""
	}
	for i, kv := range env {
		if socket, ok := strings.CutPrefix(kv, agentVariable+"="); ok && socket != "" {
			if place := s.d.o.Agents.Path(s.id); place != "" {
				env[i] = agentVariable + "=" + place
				return socket
			}
		}
	}
	return ""
}

// pointAgent makes the session's place lead to the agent of the client used last; with no
// client that has one, nowhere. The creator's own counts until somebody attaches. Not under mu.
func (s *session) pointAgent() {
	if !s.hasAgent {
		return
	}
	s.agentTurn <- struct{}{}
	defer func() { <-s.agentTurn }()
	s.mu.Lock()
	want := s.wantedAgent()
	s.mu.Unlock()
	if want == s.agent {
		return
	}
	if err := s.d.o.Agents.Point(s.id, want); err != nil {
		s.d.o.Log.Warn("an agent cannot be offered to a session", "why", err)
		return
	}
	s.agent = want
}

// wantedAgent is the agent of the client used last. The caller holds mu.
func (s *session) wantedAgent() string {
	if s.removed || s.finished {
		return ""
	}
	var latest *attachment
	for _, a := range s.attachments {
		if a.live() && a.agent != "" && !a.readOnly && (latest == nil || a.active.After(latest.active)) {
			latest = a
		}
	}
	switch {
	case latest != nil:
		return latest.agent
	case !s.attended:
		return s.creatorAgent
	}
	return ""
}

// agentOf is the agent that m's client offers.
func agentOf(m *protocol.Attach) string {
	if strings.HasPrefix(m.Agent, "/") {
		return m.Agent
	}
	return ""
}
