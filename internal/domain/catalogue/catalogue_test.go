package catalogue

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

func row(n int, title string) domain.SessionInfo {
	return domain.SessionInfo{ID: domain.SessionID{byte(n >> 8), byte(n)}, Name: fmt.Sprint("s", n), Title: title, Created: time.Unix(int64(n), 0)}
}

// member is a host in the model: what a direct look at it would show.
type member struct {
	host   Host
	ticket Ticket
	list   map[domain.SessionID]domain.SessionInfo
}

// reader is a subscriber of the model: its copy, what the sender thinks that it has, and what is on its way.
type reader struct {
	view   View
	sent   uint64
	queue  []message
	resync bool // was asked for and not answered
	scope  map[string]bool
}

// message is one frame to a subscriber.
type message struct {
	begin, end bool
	revision   uint64
	parts      uint32
	part       *Delta // of a snapshot
	delta      *Delta
}

func (r *reader) within(host string) bool { return r.scope == nil || r.scope[host] }

// send puts what is new on its way, as a snapshot's frames or as a delta.
func (r *reader) send(c *Catalogue) {
	have := r.sent
	if r.resync {
		have = 0
	}
	d := c.Since(have, r.within)
	if d.Empty() {
		return
	}
	r.sent = d.Revision
	if d.Base != 0 {
		r.queue = append(r.queue, message{delta: &d})
		return
	}
	r.resync = false
	r.queue = append(r.queue, message{begin: true, revision: d.Revision})
	parts := uint32(0)
	part := func(p Delta) {
		parts++
		r.queue = append(r.queue, message{revision: d.Revision, part: &p})
	}
	for _, h := range d.Hosts {
		part(Delta{Hosts: []Host{h}})
	}
	for _, s := range d.Sessions {
		part(Delta{Sessions: []Session{s}})
	}
	for _, k := range d.Gone {
		part(Delta{Gone: []Key{k}})
	}
	r.queue = append(r.queue, message{end: true, revision: d.Revision, parts: parts})
}

// receive takes the next frame off the way.
func (r *reader) receive(t require.TestingT) {
	m := r.queue[0]
	r.queue = r.queue[1:]
	resync := false
	var err error
	switch {
	case m.begin:
		r.view.Begin(m.revision)
	case m.end:
		resync = r.view.End(m.revision, m.parts)
	case m.part != nil:
		resync, err = r.view.Part(m.revision, *m.part)
	default:
		resync, err = r.view.Apply(*m.delta)
	}
	if fault.KindOf(err) == fault.Violation { // of a session whose host's part was lost: a real conversation ends with it
		r.view, resync = View{}, true
	}
	r.resync = r.resync || resync
}

// Whatever happens to hosts, and whatever becomes of the frames on their way to a subscriber, what it shows in the end is
// what a direct look at every host shows.
func TestSnapshotsAndDeltasShowWhatThereIs(t *testing.T) {
	names := []string{"", "desk", "lab", "far"}
	rapid.Check(t, func(t *rapid.T) {
		var c Catalogue
		model := map[string]*member{}
		var old []Ticket // of memberships that have ended
		readers := []*reader{{}, {scope: map[string]bool{"desk": true, "": true}}}
		host := func() string { return rapid.SampledFrom(names).Draw(t, "host") }
		lossy := rapid.Bool().Draw(t, "lossy")
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				name := host()
				ticket, err := c.Add(name, "")
				require.NoError(t, err)
				if model[name] == nil {
					model[name] = &member{Host{Name: name}, ticket, map[domain.SessionID]domain.SessionInfo{}}
				}
				require.Equal(t, model[name].ticket, ticket)
			},
			"remove": func(t *rapid.T) {
				name := host()
				if m := model[name]; m != nil {
					old = append(old, m.ticket)
				}
				c.Remove(name)
				delete(model, name)
			},
			"know": func(t *rapid.T) {
				if m := model[host()]; m != nil {
					m.host.State = State(rapid.Uint32Range(0, uint32(stateEnd)-1).Draw(t, "state"))
					c.Know(m.ticket, Host{State: m.host.State})
				}
			},
			"replace": func(t *rapid.T) {
				if m := model[host()]; m != nil {
					clear(m.list)
					var list []domain.SessionInfo
					for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(1, 6), 0, 4, rapid.ID[int]).Draw(t, "list") {
						s := row(n, rapid.SampledFrom([]string{"x", "y"}).Draw(t, "title"))
						m.list[s.ID] = s
						list = append(list, s)
					}
					c.Replace(m.ticket, list)
				}
			},
			"change": func(t *rapid.T) {
				if m := model[host()]; m != nil {
					s := row(rapid.IntRange(1, 6).Draw(t, "n"), rapid.SampledFrom([]string{"x", "y"}).Draw(t, "title"))
					gone := row(rapid.IntRange(1, 6).Draw(t, "gone"), "").ID
					delete(m.list, gone)
					m.list[s.ID] = s
					c.Change(m.ticket, []domain.SessionInfo{s}, []domain.SessionID{gone})
				}
			},
			"late": func(t *rapid.T) {
				if len(old) > 0 {
					ticket := rapid.SampledFrom(old).Draw(t, "ticket")
					before := c.Revision()
					require.False(t, c.Replace(ticket, []domain.SessionInfo{row(9, "late")}))
					require.False(t, c.Change(ticket, []domain.SessionInfo{row(9, "late")}, nil))
					require.False(t, c.Know(ticket, Host{State: Current}))
					require.Equal(t, before, c.Revision())
				}
			},
			"send": func(t *rapid.T) { rapid.SampledFrom(readers).Draw(t, "reader").send(&c) },
			"receive": func(t *rapid.T) {
				r := rapid.SampledFrom(readers).Draw(t, "reader")
				for range rapid.IntRange(1, 8).Draw(t, "frames") {
					if len(r.queue) > 0 {
						r.receive(t)
					}
				}
			},
			"lose": func(t *rapid.T) {
				r := rapid.SampledFrom(readers).Draw(t, "reader")
				if lossy && len(r.queue) > 0 {
					i := rapid.IntRange(0, len(r.queue)-1).Draw(t, "frame")
					r.queue = slices.Delete(r.queue, i, i+1)
				}
			},
			"": func(t *rapid.T) {
				for name, m := range model {
					got, member := c.Host(name)
					require.True(t, member)
					require.Equal(t, m.host, got)
					require.Len(t, c.Sessions(name), len(m.list))
				}
				require.Len(t, c.Hosts(), len(model))
			},
		})
		for _, r := range readers {
			// Something happens once more, so that a loss of the last frame shows, and then all arrives.
			c.Remove("")
			c.Remove("never")
			_, err := c.Add("", "")
			require.NoError(t, err)
			model[""] = &member{host: Host{}, list: nil}
			for range 3 {
				r.send(&c)
				for len(r.queue) > 0 {
					r.receive(t)
				}
			}
			shows(t, &r.view, model, r.within)
		}
	})
}

// shows requires that v has exactly the hosts and sessions of the model.
func shows(t require.TestingT, v *View, model map[string]*member, within func(string) bool) {
	hosts := map[string]Host{}
	for _, h := range v.Hosts() {
		hosts[h.Name] = h
	}
	sessions := map[Key]domain.SessionInfo{}
	for _, s := range v.Sessions() {
		sessions[Key{s.Host, s.ID}] = s.SessionInfo
	}
	wantHosts, wantSessions := map[string]Host{}, map[Key]domain.SessionInfo{}
	for name, m := range model {
		if within(name) {
			wantHosts[name] = m.host
			for id, s := range m.list {
				wantSessions[Key{name, id}] = s
			}
		}
	}
	require.Equal(t, wantHosts, hosts)
	require.Equal(t, wantSessions, sessions)
}

// copyOf is a view of a snapshot.
func copyOf(t *testing.T, d Delta) *View {
	v := &View{}
	v.Begin(d.Revision)
	_, err := v.Part(d.Revision, Delta{Hosts: d.Hosts, Sessions: d.Sessions, Gone: d.Gone})
	require.NoError(t, err)
	require.False(t, v.End(d.Revision, 1))
	return v
}

func TestTooManyTombstonesMakeASnapshot(t *testing.T) {
	var c Catalogue
	ticket, err := c.Add("desk", "")
	require.NoError(t, err)
	first := c.Revision()
	for range maxGraves {
		c.Change(ticket, []domain.SessionInfo{row(1, "")}, nil)
		c.Change(ticket, nil, []domain.SessionID{row(1, "").ID})
	}
	require.Equal(t, first, c.Since(first, nil).Base, "at the bound all is remembered")
	c.Change(ticket, []domain.SessionInfo{row(1, "")}, nil)
	c.Change(ticket, nil, []domain.SessionID{row(1, "").ID})
	require.Zero(t, c.Since(first, nil).Base, "beyond it the oldest is not")
	require.Equal(t, c.Revision()-1, c.Since(c.Revision()-1, nil).Base)
	require.LessOrEqual(t, len(c.graves), maxGraves)
	require.Zero(t, c.Since(c.Revision()+1, nil).Base, "of another process")
}

func TestMembersAreBounded(t *testing.T) {
	var c Catalogue
	for i := range MaxHosts {
		_, err := c.Add(fmt.Sprint("h", i), "")
		require.NoError(t, err)
	}
	_, err := c.Add("one more", "")
	require.Equal(t, fault.Limit, fault.KindOf(err))
	_, err = c.Add("h0", "")
	require.NoError(t, err, "it is there")
	c.Remove("h0")
	ticket, err := c.Add("one more", "")
	require.NoError(t, err)
	var list []domain.SessionInfo
	for i := range MaxSessions + 1 {
		list = append(list, row(i+1, ""))
	}
	c.Replace(ticket, list)
	require.Len(t, c.Sessions("one more"), MaxSessions)
	v := copyOf(t, c.Snapshot(nil))
	require.Len(t, v.Sessions(), MaxSessions)
	_, err = v.Apply(Delta{Base: v.Revision(), Revision: v.Revision() + 1, Sessions: []Session{{"one more", row(5000, "")}}})
	require.Equal(t, fault.Violation, fault.KindOf(err))
	v = copyOf(t, c.Snapshot(nil))
	_, err = v.Apply(Delta{Base: v.Revision(), Revision: v.Revision() + 1, Hosts: []Host{{Name: "another"}}})
	require.Equal(t, fault.Violation, fault.KindOf(err))
	v = copyOf(t, c.Snapshot(nil))
	_, err = v.Apply(Delta{Base: v.Revision(), Revision: v.Revision() + 1, Sessions: []Session{{"another", row(1, "")}}})
	require.Equal(t, fault.Violation, fault.KindOf(err), "a session needs its host")
}

func TestASnapshotSaysWhichHostsWereRemoved(t *testing.T) {
	var c Catalogue
	for _, name := range []string{"desk", "lab"} {
		_, err := c.Add(name, "")
		require.NoError(t, err)
	}
	c.Remove("desk")
	c.Remove("lab")
	_, err := c.Add("lab", "")
	require.NoError(t, err)
	v := copyOf(t, c.Snapshot(nil))
	require.True(t, v.Removed("desk"))
	require.False(t, v.Removed("lab"), "it is back")
	require.False(t, v.Removed("never"))
}

func TestAnUpdateCountsWithItsLastPart(t *testing.T) {
	var f Feed
	_, _, _, done, err := f.Take(Update{Sessions: []domain.SessionInfo{row(1, "")}, More: true})
	require.NoError(t, err)
	require.False(t, done)
	sessions, _, whole, done, err := f.Take(Update{Sessions: []domain.SessionInfo{row(2, "")}})
	require.NoError(t, err)
	require.True(t, done)
	require.True(t, whole)
	require.Len(t, sessions, 2)
	_, gone, whole, done, err := f.Take(Update{Base: 1, Gone: []domain.SessionID{{1}}})
	require.NoError(t, err)
	require.True(t, done)
	require.False(t, whole)
	require.Len(t, gone, 1)
	_, _, _, _, err = f.Take(Update{Base: 1})
	require.Equal(t, fault.Violation, fault.KindOf(err))
}

func TestAnUpdateIsBounded(t *testing.T) {
	var f Feed
	_, _, _, _, err := f.Take(Update{Sessions: make([]domain.SessionInfo, MaxSessions), More: true})
	require.NoError(t, err)
	_, _, _, _, err = f.Take(Update{Gone: make([]domain.SessionID, MaxSessions), More: true})
	require.NoError(t, err)
	_, _, _, _, err = f.Take(Update{Gone: make([]domain.SessionID, 1), More: true})
	require.Equal(t, fault.Violation, fault.KindOf(err))
	_, _, _, _, err = f.Take(Update{Sessions: make([]domain.SessionInfo, 1)})
	require.Equal(t, fault.Violation, fault.KindOf(err))
}
