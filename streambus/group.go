package streambus

import (
	"bytes"
	"sync/atomic"
)

// group is the subscriptions of one topic or prefix.
type group struct {
	subs []*Subscription // guarded by Bus.mu

	// full counts its Block subscriptions that have no room, by priority. Only Publish adds to
	// it, under Bus.mu; whoever makes the last room leaves a token in room.
	full [priorities]atomic.Int32
	room [priorities]chan struct{} // nil before the first Block subscription; guarded by Bus.mu
}

func (g *group) join(s *Subscription) {
	if s.overflow == Block && g.room[0] == nil {
		for p := range g.room {
			g.room[p] = make(chan struct{}, 1)
		}
	}
	s.group, s.index = g, len(g.subs)
	g.subs = append(g.subs, s)
}

func (g *group) leave(s *Subscription) {
	last := len(g.subs) - 1
	moved := g.subs[last]
	g.subs[s.index], moved.index = moved, s.index
	g.subs[last] = nil
	g.subs = g.subs[:last]
}

// freed is called when a Block subscription has room again.
func (g *group) freed(p Priority) {
	if g.full[p].Add(-1) == 0 {
		signal(g.room[p])
	}
}

// passOn leaves the token for the next publisher, by the one that took it and has tried.
func (g *group) passOn(p Priority) {
	if g.full[p].Load() == 0 {
		signal(g.room[p])
	}
}

// signal leaves a token in c; false: one is there.
func signal(c chan struct{}) bool {
	select {
	case c <- struct{}{}:
		return true
	default:
		return false
	}
}

// node is a place in the tree of prefixes: the way to it spells the prefix of its group.
type node struct {
	group
	parent *node
	label  byte
	labels []byte // of kids, in their order
	kids   []*node
}

func (n *node) child(b byte) *node {
	if i := bytes.IndexByte(n.labels, b); i >= 0 {
		return n.kids[i]
	}
	return nil
}

// grow returns the node of prefix below n, and makes what is missing on the way.
func (n *node) grow(prefix string) *node {
	for i := range len(prefix) {
		next := n.child(prefix[i])
		if next == nil {
			next = &node{parent: n, label: prefix[i]}
			n.labels, n.kids = append(n.labels, prefix[i]), append(n.kids, next)
		}
		n = next
	}
	return n
}

// prune takes n out of the tree if nothing needs it, and then what is above it.
func (n *node) prune() {
	for n.parent != nil && len(n.subs) == 0 && len(n.kids) == 0 {
		up := n.parent
		i, last := bytes.IndexByte(up.labels, n.label), len(up.kids)-1
		up.labels[i], up.kids[i] = up.labels[last], up.kids[last]
		up.kids[last] = nil
		up.labels, up.kids = up.labels[:last], up.kids[:last]
		n = up
	}
}
