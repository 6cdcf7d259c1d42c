package catalogue

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
)

// A machine that is known by many names is listed by one of them.
func TestOnce(t *testing.T) {
	session := func(host string, id byte) Session {
		return Session{Host: host, SessionInfo: domain.SessionInfo{ID: domain.SessionID{id}}}
	}
	hosts := []Host{
		{Name: "", State: Asking},
		{Name: "10.0.0.1", State: Current},
		{Name: "a@desk", State: Current},
		{Name: "desk", Address: "a@10.0.0.1", State: Current},
		{Name: "lap", Address: "lap", State: Stale},
		{Name: "me@lap", State: Current},
		{Name: "old", State: Stale},
		{Name: "older", State: Stale},
		{Name: "localhost", State: Current},
	}
	got := Once(hosts, []Session{
		session("", 1),
		session("10.0.0.1", 2), session("10.0.0.1", 3),
		session("a@desk", 2),
		session("desk", 2), session("desk", 4),
		session("lap", 5), session("lap", 6),
		session("me@lap", 5),
		session("old", 7), session("older", 7),
		session("localhost", 1),
	})
	require.Equal(t, []Session{
		session("", 1), session("10.0.0.1", 3), session("desk", 2), session("desk", 4), session("lap", 6), session("me@lap", 5), session("old", 7),
	}, got)
	require.Empty(t, Once(hosts, nil))
}
