package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// lsAll lists every host's sessions. What failed is said, and makes the exit code 1.
func (c *cli) lsAll(ctx context.Context, wanting, asJSON bool) error {
	all, err := c.list(ctx, question{reach: protocol.ReachAll, start: true, wait: protocol.ProbeTimeout + listGrace})
	if err != nil {
		return err
	}
	all.sessions = catalogue.Once(all.hosts, all.sessions)
	if wanting {
		all.sessions = slices.DeleteFunc(all.sessions, func(s catalogue.Session) bool { return s.Condition.Activity != domain.Attention })
	}
	now := time.Now()
	stale := map[string]*catalogue.Host{}
	for i := range all.hosts {
		if h := &all.hosts[i]; h.State != catalogue.Current {
			stale[h.Name] = h
			c.say("vev: " + unreachable(now, h))
		}
	}
	if asJSON {
		err = c.printJSON(allJSON(all, stale))
	} else {
		err = c.showAll(now, all, stale)
	}
	if err == nil && len(stale) > 0 {
		err = exitStatus(exitFailed)
	}
	return err
}

// showAll shows a table with the host in front.
func (c *cli) showAll(now time.Time, all *listing, stale map[string]*catalogue.Host) error {
	if len(all.sessions) == 0 {
		c.say("no sessions")
		return nil
	}
	rows := [][]string{append([]string{"HOST"}, sessionHead...)}
	for i := range all.sessions {
		s := &all.sessions[i]
		state := stateText(s.SessionInfo)
		if h := stale[s.Host]; h != nil {
			state += ", " + age(now, h.Heard)
		}
		rows = append(rows, append([]string{hostCell(s.Host)}, sessionRow(now, &s.SessionInfo, state)...))
	}
	return writeTable(c.out, rows)
}

// hostCell is a host's cell in a table.
func hostCell(host string) string {
	if host == protocol.LocalHost {
		return "-"
	}
	return host
}

// unreachable says in a line why a host's list is not what there is now.
func unreachable(now time.Time, h *catalogue.Host) string {
	var b strings.Builder
	name := h.Name
	if name == protocol.LocalHost {
		name = "this machine"
	}
	why := hostFault(h)
	b.WriteString(printable(name) + ": " + fault.Clean(why.Error()))
	if !h.Heard.IsZero() {
		b.WriteString("; last contact " + age(now, h.Heard))
	}
	if why.Hint != "" {
		b.WriteString("; " + fault.Clean(why.Hint))
	}
	return b.String()
}

// hostFault is why a host's list is not current.
func hostFault(h *catalogue.Host) *fault.Error {
	switch {
	case h.Failure != nil:
		return h.Failure
	case h.State == catalogue.Unasked:
		return fault.New(fault.Unavailable, "not asked")
	}
	return fault.New(fault.Timeout, "no answer in %s", protocol.ProbeTimeout)
}

// unreachableJSON is a host that could not be asked.
type unreachableJSON struct {
	Host        string `json:"host"`
	State       string `json:"state"`
	Kind        string `json:"kind"`
	Error       string `json:"error"`
	Hint        string `json:"hint,omitempty"`
	LastContact string `json:"last_contact,omitempty"`
}

const stateUnreachable = "unreachable"

func allJSON(all *listing, stale map[string]*catalogue.Host) []any {
	out := []any{}
	for i := range all.sessions {
		s := &all.sessions[i]
		j := newSessionJSON(&s.SessionInfo, &s.Host)
		j.Stale = stale[s.Host] != nil
		out = append(out, j)
	}
	for i := range all.hosts {
		h := stale[all.hosts[i].Name]
		if h == nil {
			continue
		}
		why := hostFault(h)
		j := unreachableJSON{Host: h.Name, State: stateUnreachable, Kind: why.Kind.String(), Error: fault.Clean(why.Error()), Hint: fault.Clean(why.Hint)}
		if !h.Heard.IsZero() {
			j.LastContact = h.Heard.Format(time.RFC3339Nano)
		}
		out = append(out, j)
	}
	return out
}
