package daemon

import (
	"slices"
	"strconv"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// clients are the rows of vev clients: of one session or, with an empty name, of all, in the
// order in which they attached.
func (d *Daemon) clients(name string) (*protocol.ClientList, error) {
	sessions := d.all()
	if name != "" {
		s, err := d.find(name)
		if err != nil {
			return nil, err
		}
		sessions = []*session{s}
	}
	list := &protocol.ClientList{}
	for _, s := range sessions {
		list.List = append(list.List, s.clients()...)
	}
	return list, nil
}

func (s *session) clients() []domain.ClientInfo {
	s.d.mu.Lock()
	name := s.name
	s.d.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	var rows []domain.ClientInfo
	for _, a := range s.attachments {
		if a.present() {
			rows = append(rows, domain.ClientInfo{
				ID: a.id, Session: s.id, SessionName: name, Size: a.size, ReadOnly: a.readOnly,
				Attached: a.attachedAt, LastActive: a.active, Origin: a.origin,
			})
		}
	}
	return rows
}

// detachAll ends every attachment of s; the program goes on.
func (s *session) detachAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.attachments {
		a.finish(protocol.EndDetached)
	}
	s.departed()
}

// detachClient ends the attachment with that id.
func (s *session) detachClient(id uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.attachments, func(a *attachment) bool { return a.id == id && a.present() })
	if i < 0 {
		return fault.New(fault.NotFound, "the session has no client %s", strconv.FormatUint(id, 10)).
			WithHint("vev clients shows who is attached")
	}
	s.attachments[i].finish(protocol.EndDetached)
	s.departed()
	return nil
}
