package domain

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// at is the nth minute.
func at(n int) time.Time { return time.Unix(int64(60*n), 0).UTC() }

// courses are the ways into each state.
func courses() map[string]*Course {
	made := func(facts ...Fact) *Course {
		c := &Course{}
		c.Began(at(0))
		for _, f := range facts {
			c.Step(f, "why", at(1))
		}
		return c
	}
	return map[string]*Course{
		"running": made(), "marked": made(FactPrompt), "ready": made(FactReady), "reads": made(FactReads),
		"called": made(FactReads, FactCall), "exited": made(FactExited),
	}
}

// Every fact in every state: r running, p prompt, i input, a attention, x exited.
func TestEveryFactInEveryState(t *testing.T) {
	//                output prompt command ready reads busy call seen typed settled exited
	for state, row := range map[string]string{
		"running": "rprpirarrrx",
		"marked":  "pprpppapppx",
		"ready":   "pprpirapppx",
		"reads":   "rprpirairix",
		"called":  "aaaaaaaiaix",
		"exited":  "xxxxxxxxxxx",
	} {
		require.Len(t, row, int(facts))
		for f := range facts {
			c := courses()[state]
			before := c.Condition()
			changed := c.Step(f, "why", at(2))
			after := c.Condition()
			want := map[byte]Activity{'r': Working, 'p': AtPrompt, 'i': AtInput, 'a': Attention, 'x': Ended}[row[f]]
			require.Equal(t, want, after.Activity, "fact %d in %s", f, state)
			require.Equal(t, changed, before.Activity != after.Activity || before.Reason != after.Reason, "fact %d in %s", f, state)
			if before.Activity == after.Activity {
				require.Equal(t, before.Since, after.Since, "it goes on: fact %d in %s", f, state)
			}
			require.NotEmpty(t, after.Reason)
		}
	}
}

func TestACallWaitsSinceTheFirst(t *testing.T) {
	c := courses()["running"]
	c.Step(FactCall, "bell", at(3))
	c.Step(FactCall, "notification: done", at(5))
	require.Equal(t, Condition{Activity: Attention, Reason: "notification: done", Since: at(3)}, c.Condition())
	c.Step(FactSeen, "", at(6))
	require.Equal(t, Condition{Activity: Working, Reason: "started", Since: at(0)}, c.Condition(), "what was below goes on")
}

func TestNamesAreRead(t *testing.T) {
	for _, name := range ActivityNames() {
		a, ok := ParseActivity(name)
		require.True(t, ok && a.String() == name)
	}
	for _, name := range EventNames() {
		e, ok := ParseEventType(name)
		require.True(t, ok && e.String() == name && e.Valid())
	}
	_, ok := ParseEventType("")
	require.False(t, ok)
	require.True(t, EventSet(0).With(EventLocked).Has(EventLocked))
	require.False(t, EventSet(0).With(EventLocked).Has(EventBell))
}

func TestAnEventIsWhatItsJSONSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := Event{
			Seq: rapid.Uint64().Draw(t, "seq"), At: at(rapid.IntRange(0, 1<<20).Draw(t, "at")), Session: SessionID{1, 2},
			Name: "work", Type: EventType(rapid.IntRange(1, int(eventTypes)-1).Draw(t, "type")),
			Title: rapid.String().Draw(t, "title"), Text: rapid.String().Draw(t, "text"), Count: rapid.Int().Draw(t, "count"),
			Client: rapid.Uint64().Draw(t, "client"), Size: Size{Cols: rapid.IntRange(0, 9).Draw(t, "cols")},
		}
		if e.HasStatus = rapid.Bool().Draw(t, "has status"); e.HasStatus {
			e.Status = rapid.IntRange(-1, 255).Draw(t, "status")
		}
		if e.Type == EventCommandEnd {
			e.Took = time.Duration(rapid.IntRange(0, 1<<30).Draw(t, "took")) * time.Millisecond
		}
		e.Title, e.Text = strings.ToValidUTF8(e.Title, ""), strings.ToValidUTF8(e.Text, "")
		b, err := json.Marshal(e)
		require.NoError(t, err)
		var got Event
		require.NoError(t, json.Unmarshal(b, &got))
		require.Equal(t, e, got)
	})
	for _, bad := range []string{`{}`, `{"at":"x"}`, `[]`} {
		require.Error(t, json.Unmarshal([]byte(bad), new(Event)))
	}
}
