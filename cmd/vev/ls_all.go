package main

import (
	"bufio"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/vev-term/vev/internal/adapters/tty"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// lsAll lists every host's sessions. What failed is said, and makes the exit code 1. A person sees what is there while a host is
// still waited for; a program gets all of it in order.
func (c *cli) lsAll(ctx context.Context, wanting, asJSON bool) error {
	q := question{reach: protocol.ReachAll, start: true, wait: protocol.ProbeTimeout + listGrace}
	shown := newAllTable(c.out, wanting)
	if !asJSON && tty.IsTerminal(c.stdout) {
		q.partly = func(l *listing) error { return shown.write(time.Now(), l, false) }
	}
	all, err := c.list(ctx, q)
	if err != nil {
		return err
	}
	now := time.Now()
	if asJSON {
		err = c.printJSON(allJSON(all, wanting))
	} else if err = shown.write(now, all, true); err == nil && len(shown.seen) == 0 {
		c.say("no sessions")
	}
	failed := false
	for i := range all.hosts {
		if h := &all.hosts[i]; h.State != catalogue.Current {
			failed = true
			c.say("vev: " + unreachable(now, h))
		}
	}
	if err == nil && failed {
		err = exitStatus(exitFailed)
	}
	return err
}

// all are the sessions of a listing, each once.
func (l *listing) all(wanting bool) []catalogue.Session {
	list := catalogue.Once(l.hosts, l.sessions)
	if wanting {
		list = slices.DeleteFunc(list, func(s catalogue.Session) bool { return s.Condition.Activity != domain.Attention })
	}
	return list
}

// stale are the hosts whose list is not what there is now.
func (l *listing) stale() map[string]*catalogue.Host {
	stale := map[string]*catalogue.Host{}
	for i := range l.hosts {
		if h := &l.hosts[i]; h.State != catalogue.Current {
			stale[h.Name] = h
		}
	}
	return stale
}

// allTable is a table of sessions with their host in front, which may be written as the hosts answer.
type allTable struct {
	to      *bufio.Writer
	table   table
	wanting bool
	seen    map[domain.SessionID]bool
}

func newAllTable(to *bufio.Writer, wanting bool) *allTable {
	return &allTable{to: to, table: table{to: to}, wanting: wanting, seen: map[domain.SessionID]bool{}}
}

// write writes what was not written yet; unless it is the last time, only what is known to be so now.
func (t *allTable) write(now time.Time, l *listing, last bool) error {
	var rows [][]string
	stale := l.stale()
	for _, s := range l.all(t.wanting) {
		h := stale[s.Host]
		if t.seen[s.ID] || h != nil && !last {
			continue
		}
		if len(t.seen) == 0 {
			rows = append(rows, append([]string{"HOST"}, sessionHead...))
		}
		t.seen[s.ID] = true
		state := stateText(s.SessionInfo)
		if h != nil {
			state += ", " + age(now, h.Heard)
		}
		rows = append(rows, append([]string{hostCell(s.Host)}, sessionRow(now, &s.SessionInfo, state)...))
	}
	if err := t.table.write(rows); err != nil {
		return err
	}
	return t.to.Flush()
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

func allJSON(all *listing, wanting bool) []any {
	out, stale := []any{}, all.stale()
	sessions := all.all(wanting)
	for i := range sessions {
		s := &sessions[i]
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
