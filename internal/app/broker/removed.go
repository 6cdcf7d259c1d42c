package broker

import (
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

// removed ends all that leads to a host that is on the list no longer: who waits for a link, or goes over one, is told why.
// What reaches an address of it from then on begins anew.
func (h *hosts) removed(r domain.RemovedHost, now domain.Hosts) {
	why := fault.New(fault.Conflict, "the host was removed from the list; what runs there goes on").
		WithHint("vev host add %s --name %s adds it again", r.Address, r.Alias)
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, w := range h.ways {
		if host, err := domain.ParseHost(name); err == nil && now.Left(r, host) && !h.closed {
			delete(h.ways, name)
			w.remove(why)
		}
	}
}

// remove ends a way that is none of its hosts any more.
func (w *way) remove(why error) {
	w.end(why)
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.beside != nil {
		w.beside()
	}
	if l := w.link; l != nil {
		w.pulse.Dropped()
		w.link = nil
		l.idle.Stop()
		w.shut(l)
	}
	for l := range w.left {
		w.shut(l)
	}
	if forget := w.hosts.o.Forget; forget != nil {
		forget(w.name)
	}
	if changed := w.hosts.o.Changed; changed != nil {
		changed(w.name)
	}
}

func (w *way) removed() bool { return w.life.Err() != nil }
