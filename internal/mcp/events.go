package mcp

import (
	"context"
	"errors"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/vev-term/vev/client"
	"github.com/vev-term/vev/internal/domain/fault"
)

// eventsPause is how long an answer waits for another event behind one: what happens together is told together.
const eventsPause = 100 * time.Millisecond

type eventsIn struct {
	Session string   `json:"session,omitempty" jsonschema:"NAME, or HOST:NAME; every session of host if left out"`
	Host    string   `json:"host,omitempty" jsonschema:"the machine, as the user's ssh names it; this one if left out"`
	Types   []string `json:"types,omitempty" jsonschema:"such as bell, command-end, prompt, exited; all if left out"`
	Since   uint64   `json:"since,omitempty" jsonschema:"the last number of the answer before; 0 is all that is kept"`
	Timeout float64  `json:"timeout_seconds,omitempty" jsonschema:"how long to wait for the first event; 60 if left out"`
}

type eventsOut struct {
	Events []client.Event `json:"events"`
	Last   uint64         `json:"last" jsonschema:"for since of the next call"`
	Missed bool           `json:"missed,omitempty" jsonschema:"some events behind since are not kept any more"`
}

// watching adds what tells events.
func (s *Server) watching() {
	tool(s, looks, "events", "Tell what happened in sessions since a number, and wait for the first event if there is none.",
		func(j *jsonschema.Schema) {
			text(j, "session", 0, 512)
			text(j, "host", 0, 256)
			list(j, "types", 64, 64)
			number(j, "since", 0, 1<<63)
			number(j, "timeout_seconds", 0.001, MaxWait.Seconds())
		}, func(in eventsIn) string { return in.Session }, events)
}

var errEnough = errors.New("enough")

func events(ctx context.Context, c *client.Client, in eventsIn) (eventsOut, error) {
	ctx, cancel := context.WithTimeout(ctx, seconds(in.Timeout))
	defer cancel()
	quiet := time.AfterFunc(MaxWait, cancel)
	defer quiet.Stop()
	out := eventsOut{Events: []client.Event{}, Last: in.Since}
	size := 0
	err := c.Watch(ctx, client.WatchOptions{Session: in.Session, Host: in.Host, Types: in.Types, Since: in.Since}, client.Watcher{
		Gap: func(_, to uint64) error {
			out.Missed, out.Last = true, to
			return nil
		},
		Event: func(e client.Event) error {
			if size += len(e.Text) + len(e.Title); size > MaxAnswer && len(out.Events) > 0 {
				return errEnough
			}
			out.Events, out.Last = append(out.Events, e), e.Seq
			if len(out.Events) == MaxEvents {
				return errEnough
			}
			quiet.Reset(eventsPause)
			return nil
		},
	})
	if kind := fault.KindOf(err); err == nil || errors.Is(err, errEnough) || kind == fault.Canceled || kind == fault.Timeout {
		return out, nil
	}
	return eventsOut{}, err
}
