package e2e

import "testing"

// TestBC55AgentAfterReattach: a shell that began before a new login finds the agent of the client that uses the session
// now, and none when nobody does.
func TestBC55AgentAfterReattach(t *testing.T) {
	h := newHome(t)
	first := h.with("SSH_AUTH_SOCK=/login/1/agent")
	tt := newTerm(t, 80, 24)
	p := tt.vev(first, "new", "x", "--", "sh", "-c", `while read -r line; do echo "$line:$(readlink "$SSH_AUTH_SOCK"):"; done`)
	tt.typ("one\r")
	tt.sees("one:/login/1/agent:")
	tt.typ("\x1cd")
	p.exits()
	h.ok("send", "x", "two")
	h.ok("key", "x", "Enter")
	h.waitText("x", "^two::$")

	again := newTerm(t, 80, 24)
	again.vev(h.with("SSH_AUTH_SOCK=/login/2/agent"), "attach", "x")
	again.sees("two::")
	again.typ("three\r")
	again.sees("three:/login/2/agent:")
}
