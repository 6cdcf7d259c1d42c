package sessionwire

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/protocol/wire"
)

// Tags are never given to another message: a peer of any version knows what it reads.
func TestTagsAreFrozen(t *testing.T) {
	require.Equal(t, map[string]int{
		"attach": 1, "watch": 2, "request": 3, "input": 4, "ack": 5, "resize": 6, "detach": 7, "cancel": 8, "focus": 9,
	}, tagsOf(new(wire.SessionClientEnvelope), "body"))
	require.Equal(t, map[string]int{
		"attached": 1, "output": 2, "result": 3, "ended": 4, "refused": 5, "packed": 6,
		"watching": 7, "catalogue_update": 8, "events": 9, "preview": 10, "squeezed": 15,
	}, tagsOf(new(wire.SessionServerEnvelope), "body"))
	require.Equal(t, map[string]int{
		"bell": 3, "title": 4, "cwd": 5, "clipboard": 6, "notification": 7, "progress": 8, "prompt_mark": 9, "exit": 10, "renamed": 11,
	}, tagsOf(new(wire.Event), "body"))
	require.Equal(t, map[string]int{
		"new": 10, "list": 11, "kill": 12, "rename": 13, "detach": 14, "type": 15, "keys": 16, "paste": 17,
		"capture": 18, "wait": 19, "stats": 20, "history": 21, "search": 22, "clients": 23,
		"detach_client": 24, "size": 25, "run": 26, "read_run": 27, "lock": 28, "guarded": 29, "await": 30,
	}, tagsOf(new(wire.Request), "body"))
	require.Equal(t, map[string]int{
		"sessions": 10, "capture": 11, "wait": 12, "stats": 13, "history": 14, "found": 15, "clients": 16,
		"run": 17, "run_output": 18, "awaited": 19,
	}, tagsOf(new(wire.Result), "body"))
}

func tagsOf(m proto.Message, oneof protoreflect.Name) map[string]int {
	out := map[string]int{}
	fields := m.ProtoReflect().Descriptor().Oneofs().ByName(oneof).Fields()
	for i := range fields.Len() {
		out[string(fields.Get(i).Name())] = int(fields.Get(i).Number())
	}
	return out
}

// Every text, list and message has a bound in its shape.
func TestShapesCoverTheSchema(t *testing.T) {
	for _, c := range []struct {
		m proto.Message
		s *shape
	}{
		{new(wire.Attach), &attachShape},
		{new(wire.Request), &requestShape},
		{new(wire.Resize), &resizeShape},
		{new(wire.Watch), &watchShape},
		{new(wire.Focus), &emptyShape},
		{new(wire.Detach), &emptyShape},
		{new(wire.Cancel), &emptyShape},
		{new(wire.Attached), &attachedShape},
		{new(wire.Result), &resultShape},
		{new(wire.Ended), &endedShape},
		{new(wire.Refused), &refusedShape},
		{new(wire.Watching), &watchingShape},
		{new(wire.CatalogueUpdate), &updateShape},
		{new(wire.Preview), &previewShape},
		{new(wire.WatchedEvents), &eventsShape},
	} {
		compare(t, string(c.m.ProtoReflect().Descriptor().Name()), c.m.ProtoReflect().Descriptor(), c.s)
	}
}

func compare(t *testing.T, path string, d protoreflect.MessageDescriptor, s *shape) {
	known := map[int]bool{}
	for i := range d.Fields().Len() {
		fd := d.Fields().Get(i)
		known[int(fd.Number())] = true
		at := path + "." + string(fd.Name())
		f := s.at(wirefmt.Number(fd.Number()))
		require.LessOrEqual(t, int(fd.Number()), maxField, at)
		require.Equal(t, fd.ContainingOneof() != nil, f.union, at)
		require.Equal(t, fd.IsList(), f.count > 0, "%s: a list has a count", at)
		switch fd.Kind() {
		case protoreflect.MessageKind:
			require.NotNil(t, f.of, at)
			require.Zero(t, f.bytes, at)
			compare(t, at, fd.Message(), f.of)
		case protoreflect.StringKind, protoreflect.BytesKind:
			require.Positive(t, f.bytes, at)
			require.Nil(t, f.of, at)
		default:
			require.Zero(t, f, "%s is a number", at)
		}
	}
	for n, f := range s.fields {
		require.True(t, f == field{} || known[n], "%s has no field %d", path, n)
	}
}
