package vt

import (
	"bytes"
	"encoding/base64"
	"strconv"
)

const (
	maxNoteBytes = 4 << 10 // of a notification's title and of its body; cut at a character
	// maxOpenNotes bounds the notifications (OSC 99) of which more is to come; then the oldest is dropped.
	maxOpenNotes = 4
	// maxNoteID bounds the identifier of such a one; one with a longer identifier is dropped.
	maxNoteID = 64
)

// osc9 is ConEmu's family (of it 9;4 progress and 9;9 directory) and otherwise iTerm2's notification.
func (t *Terminal) osc9(b []byte) {
	number, rest, found := bytes.Cut(b, []byte{';'})
	switch n := string(number); {
	case n == "4" && found:
		t.progress(rest)
	case n == "9" && found:
		t.setCwd(bytes.Trim(rest, "\""))
	case conEmu(n, found):
	default:
		t.notify(nil, b)
	}
}

// conEmu reports commands of that terminal that are carried out by none but it.
func conEmu(number string, arguments bool) bool {
	switch number {
	case "1", "2", "3", "6", "7", "8", "11":
		return arguments
	case "5", "10", "12":
		return true
	}
	return false
}

func (t *Terminal) progress(b []byte) {
	state, percent, _ := bytes.Cut(b, []byte{';'})
	if len(state) != 1 || state[0] < '0' || state[0] > '4' {
		return
	}
	p := Progress{State: ProgressState(state[0] - '0')}
	if n, err := strconv.Atoi(string(percent)); err == nil {
		p.Percent = clamp(n, 0, 100)
	}
	if p != t.lastProgress {
		t.lastProgress = p
		t.emit(Event{Kind: EventProgress, Progress: p})
	}
}

func (t *Terminal) notify(title, body []byte) {
	e := Event{
		Kind:  EventNotification,
		Title: cleanText(title, maxNoteBytes),
		Text:  cleanText(body, maxNoteBytes),
	}
	if e.Title != "" || e.Text != "" {
		t.emit(e)
	}
}

// openNote is a notification of which more is to come.
type openNote struct {
	id          string
	title, body []byte // at most maxNoteBytes each
}

// kittyNotification is OSC 99: metadata, a semicolon, a payload. Of the metadata i (identifier), p (title or body),
// e (base64) and d (0: more follows) count. Queries are not answered: the answer would hold the program's identifier.
func (t *Terminal) kittyNotification(b []byte) {
	meta, payload, ok := bytes.Cut(b, []byte{';'})
	if !ok {
		return
	}
	id, isTitle, encoded, done := "", true, false, true
	for kv := range bytes.SplitSeq(meta, []byte{':'}) {
		key, value, _ := bytes.Cut(kv, []byte{'='})
		switch string(key) {
		case "i":
			id = string(value)
		case "d":
			done = string(value) != "0"
		case "e":
			encoded = string(value) == "1"
		case "p":
			isTitle = string(value) == "title"
			if !isTitle && string(value) != "body" { // close, icon, buttons, alive, ?: nothing to show
				return
			}
		}
	}
	if encoded {
		var err error
		if payload, err = decodeBase64(payload); err != nil {
			return
		}
	}
	if len(id) > maxNoteID {
		return
	}
	note := t.takeNote(id)
	part := &note.body
	if isTitle {
		part = &note.title
	}
	*part = append(*part, payload[:min(len(payload), maxNoteBytes-len(*part))]...)
	if done {
		t.notify(note.title, note.body)
		return
	}
	if len(t.notes) == maxOpenNotes {
		t.notes = append(t.notes[:0], t.notes[1:]...)
	}
	t.notes = append(t.notes, note)
}

// takeNote removes and returns what came before of a notification.
func (t *Terminal) takeNote(id string) openNote {
	for i, n := range t.notes {
		if n.id == id {
			t.notes = append(t.notes[:i], t.notes[i+1:]...)
			return n
		}
	}
	return openNote{id: id}
}

// decodeBase64 decodes with or without padding.
func decodeBase64(b []byte) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(b, "=")))
}
