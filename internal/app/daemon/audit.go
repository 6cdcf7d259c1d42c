package daemon

import (
	"strings"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// audit keeps a record of an input of a request and of what became of it. What only looks is not recorded.
func (d *Daemon) audit(body protocol.RequestBody, failed error) {
	if d.o.Audit == nil {
		return
	}
	e, name, ok := auditEntry(body)
	if !ok {
		return
	}
	e.At, e.Name = time.Now(), fault.Clean(name)
	if failed != nil {
		e.Refused = fault.KindOf(failed).String()
	}
	if s, err := d.find(name); err == nil {
		d.mu.Lock()
		e.Session, e.Name = s.id, s.name
		d.mu.Unlock()
	}
	d.o.Audit.Record(e)
}

// auditEntry is what of a request is recorded, and the session that it names.
func auditEntry(body protocol.RequestBody) (e ports.AuditEntry, session string, ok bool) {
	switch b := body.(type) {
	case *protocol.Type:
		return ports.AuditEntry{Kind: "type", Author: b.Author, Data: b.Data}, b.Session, true
	case *protocol.Keys:
		return ports.AuditEntry{Kind: "keys", Author: b.Author, Data: []byte(strings.Join(b.Names, " "))}, b.Session, true
	case *protocol.Paste:
		return ports.AuditEntry{Kind: "paste", Author: b.Author, Data: b.Data}, b.Session, true
	case *protocol.RunCommand:
		return ports.AuditEntry{Kind: "run", Author: b.Author, Data: []byte(b.Command)}, b.Session, true
	case *protocol.Lock:
		kind := "unlock"
		if b.Locked {
			kind = "lock"
		}
		return ports.AuditEntry{Kind: kind, Author: b.Author}, b.Session, true
	case *protocol.Guarded:
		switch {
		case b.Type != nil:
			return auditEntry(b.Type)
		case b.Keys != nil:
			return auditEntry(b.Keys)
		case b.Paste != nil:
			return auditEntry(b.Paste)
		}
	}
	return ports.AuditEntry{}, "", false
}
