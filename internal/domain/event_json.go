package domain

import (
	"encoding/json"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
)

// eventJSON is an event as programs read it. Names are never changed, only added.
type eventJSON struct {
	Seq     uint64 `json:"seq"`
	At      string `json:"at"`
	Session string `json:"session"`
	Name    string `json:"name"`
	Type    string `json:"type"`
	Title   string `json:"title,omitempty"`
	Text    string `json:"text,omitempty"`
	Count   int    `json:"count,omitempty"`
	Client  uint64 `json:"client,omitempty"`
	Cols    int    `json:"cols,omitempty"`
	Rows    int    `json:"rows,omitempty"`
	Status  *int   `json:"status,omitempty"`
	TookMS  *int64 `json:"took_ms,omitempty"`
}

// MarshalJSON gives one object, with the fields that the event's type has.
func (e Event) MarshalJSON() ([]byte, error) {
	j := eventJSON{
		Seq: e.Seq, At: e.At.Format(time.RFC3339Nano), Session: e.Session.String(), Name: e.Name, Type: e.Type.String(),
		Title: e.Title, Text: e.Text, Count: e.Count, Client: e.Client, Cols: e.Size.Cols, Rows: e.Size.Rows,
	}
	if e.HasStatus {
		j.Status = &e.Status
	}
	if e.Type == EventCommandEnd {
		ms := e.Took.Milliseconds()
		j.TookMS = &ms
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON gives.
func (e *Event) UnmarshalJSON(b []byte) error {
	var j eventJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, j.At)
	kind, known := ParseEventType(j.Type)
	id, isID := ParseSessionID(j.Session)
	if err != nil || !known || !isID {
		return fault.New(fault.Internal, "no event")
	}
	*e = Event{
		Seq: j.Seq, At: at, Session: id, Name: j.Name, Type: kind, Title: j.Title, Text: j.Text, Count: j.Count,
		Client: j.Client, Size: Size{Cols: j.Cols, Rows: j.Rows},
	}
	if j.Status != nil {
		e.HasStatus, e.Status = true, *j.Status
	}
	if j.TookMS != nil {
		e.Took = time.Duration(*j.TookMS) * time.Millisecond
	}
	return nil
}
