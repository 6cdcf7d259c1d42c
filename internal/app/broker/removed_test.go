package broker

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// parting is a stream that tells how it was ended.
type parting struct {
	near    stream
	aborted chan protocol.Failure
}

func (p *parting) Abort(f protocol.Failure) error {
	p.aborted <- f
	return p.near.Close()
}

func (p *parting) Read(b []byte) (int, error)  { return p.near.Read(b) }
func (p *parting) Write(b []byte) (int, error) { return p.near.Write(b) }
func (p *parting) Close() error                { return p.near.Close() }

// opening is a request for a stream that tells how it was ended.
type opening struct {
	*ask
	given *parting
}

func (o opening) Open() (ports.Stream, error) { return o.given, nil }

// goes has a client open a stream to a host; what it is refused or ended with is sent to the channel.
func (p *place) goes(host string) chan protocol.Failure {
	a, _ := newAsk(host)
	s := &parting{a.near, make(chan protocol.Failure, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.b.answer(p.t.Context(), opening{a, s})
	}()
	p.t.Cleanup(func() { <-done })
	synctest.Wait()
	why := make(chan protocol.Failure, 1)
	go func() {
		select {
		case f := <-a.refused:
			why <- f
		case f := <-s.aborted:
			why <- f
		}
	}()
	return why
}

// TestARemovedHostIsLeftAtOnce: links, those that were left behind, and searches end with the host; what comes by its address
// begins anew.
func TestARemovedHostIsLeftAtOnce(t *testing.T) {
	placed(t, func(p *place) {
		p.far.transport = domain.TransportQUIC
		p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "far", Alias: "desk"})
		p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "many1", Alias: "other"})
		forgotten := ""
		p.b.hosts.o.Forget = func(name string) { forgotten += name + " " }
		before := p.goes("desk")
		time.Sleep(time.Second)
		p.far.last().slow(time.Hour)
		time.Sleep(10 * time.Second) // another link is made in place of the silent one
		after := p.goes("far")
		time.Sleep(time.Second)
		stays := p.goes("other")
		time.Sleep(time.Second)
		made := p.far.links()
		require.Len(t, made, 3)
		require.False(t, made[0].ended())

		removed := time.Now()
		p.ok(protocol.Mutation{Kind: protocol.RemoveHost, Host: "desk"})
		for _, why := range []chan protocol.Failure{before, after} {
			f := <-why
			require.Equal(t, fault.Conflict, f.Kind)
			require.Equal(t, "the host was removed from the list; what runs there goes on", f.Text)
			require.Equal(t, "vev host add far --name desk adds it again", f.Hint)
		}
		synctest.Wait()
		require.Equal(t, removed, time.Now(), "at once")
		require.True(t, made[0].ended() && made[1].ended())
		require.False(t, made[2].ended(), "another host's link stays")
		require.Equal(t, "far ", forgotten)
		require.Empty(t, p.b.hosts.link("far"))

		// By its address it begins anew: as a host that was never reached.
		p.far.set(0, fault.New(fault.Unavailable, "refused"))
		dials := p.far.dialled()
		_, err := p.b.reach(p.t.Context(), wants("far"))
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
		require.Equal(t, dials+1, p.far.dialled())
		p.far.set(0, nil)
		s, err := p.b.reach(p.t.Context(), wants("far"))
		require.NoError(t, err)
		require.NoError(t, s.Close())

		require.Empty(t, stays)
		p.ok(protocol.Mutation{Kind: protocol.RemoveHost, Host: "other"})
		require.Equal(t, "the host was removed from the list; what runs there goes on", (<-stays).Text)
	})
}

// TestASearchEndsWithItsHost: who waits for a link is told at once, and nothing is dialed any more.
func TestASearchEndsWithItsHost(t *testing.T) {
	placed(t, func(p *place) {
		p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "far", Alias: "desk"})
		p.far.set(time.Hour, nil)
		waits, asks := p.goes("desk"), p.goes("bob@desk")
		time.Sleep(time.Second)
		_, active, _ := p.far.counts()
		require.Equal(t, 1, active, "bob's is refused: the network has but one host")
		require.Equal(t, fault.NotFound, (<-asks).Kind)
		p.ok(protocol.Mutation{Kind: protocol.RemoveHost, Host: "desk"})
		require.Equal(t, "the host was removed from the list; what runs there goes on", (<-waits).Text)
		synctest.Wait()
		_, active, _ = p.far.counts()
		require.Zero(t, active)
	})
}

// TestARemovalElsewhereCountsToo: another broker may keep the same list; each removal counts once.
func TestARemovalElsewhereCountsToo(t *testing.T) {
	placed(t, func(p *place) {
		p.ok(protocol.Mutation{Kind: protocol.AddHost, Host: "far", Alias: "desk"})
		why := p.goes("desk")
		time.Sleep(time.Second)
		hosts, err := p.kept.hosts.Remove("desk")
		require.NoError(t, err)
		p.kept.mu.Lock()
		p.kept.hosts = hosts
		p.kept.mu.Unlock()
		again := p.goes("far") // the list is read
		require.Equal(t, fault.Conflict, (<-why).Kind)
		time.Sleep(time.Second)
		s, err := p.b.reach(p.t.Context(), wants("far"))
		require.NoError(t, err)
		require.NoError(t, s.Close())
		require.Empty(t, again, "what began after the removal is not its business")
		require.Equal(t, 2, p.far.dialled())
		hosts, _ = hosts.Add(domain.KnownHost{Alias: "desk", Address: domain.Host{Name: "far"}})
		hosts, err = hosts.Remove("desk")
		require.NoError(t, err)
		p.b.members.saw(hosts)
		require.Equal(t, fault.Conflict, (<-again).Kind)
	})
}
