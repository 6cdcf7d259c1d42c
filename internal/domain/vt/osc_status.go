package vt

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The limits of the program status protocol, revision 0.3, in bytes. A report over one of them changes nothing.
const (
	maxStatusReport  = 4096 // from OSC to ST
	maxStatusKey     = 16
	maxStatusID      = 128
	maxStatusDepth   = 8
	maxStatusName    = 32 // of a part of an ID, and of the program
	maxStatusTitle   = 192
	maxStatusMessage = 2048
)

// statusFrame is what surrounds the pairs of a report.
const statusFrame = len("\x1b]7501;") + len("\x1b\\")

// programStatus is OSC 7501: a question whether the protocol is known, or pairs of key=value separated by colons.
func (t *Terminal) programStatus(b []byte, bell bool) {
	if string(b) == "?" {
		t.reply("\x1b]7501;?" + stringEnd(bell))
		return
	}
	p, ok := parseStatus(b)
	switch {
	case !ok:
	case p.State == StatusNone:
		t.statuses.forget(t, p.ID)
	default:
		t.statuses.put(t, p)
	}
}

// parseStatus reads a report; the state StatusNone is its clear. It reports false for one that counts for nothing.
func parseStatus(b []byte) (ProgramStatus, bool) {
	if len(b)+statusFrame > maxStatusReport {
		return ProgramStatus{}, false
	}
	values := map[string]string{}
	for pair := range bytes.SplitSeq(b, []byte{':'}) {
		key, value, ok := bytes.Cut(pair, []byte{'='})
		if len(key) > maxStatusKey {
			return ProgramStatus{}, false
		}
		if ok && len(key) > 0 && only(key, "abcdefghijklmnopqrstuvwxyz") && only(value, statusNames+",/=") {
			values[string(key)] = string(value)
		}
	}
	p := ProgramStatus{ID: values["id"], App: values["app"], Progress: -1}
	ok := p.setState(values["state"]) && validStatusID(p.ID) &&
		len(p.App) <= maxStatusName && only([]byte(p.App), statusNames)
	if p.State == StatusBlocked {
		p.Kind = statusKind(values["kind"])
	}
	if p.State == StatusWorking || p.State == StatusBlocked {
		if n, err := strconv.ParseUint(values["progress"], 10, 8); err == nil && n <= 100 {
			p.Progress = int(n)
		}
	}
	var titleOK, messageOK bool
	p.Title, titleOK = statusText(values["title"], maxStatusTitle)
	p.Message, messageOK = statusText(values["msg"], maxStatusMessage)
	return p, ok && titleOK && messageOK
}

const statusNames = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-"

func only(b []byte, chars string) bool {
	for _, c := range b {
		if strings.IndexByte(chars, c) < 0 {
			return false
		}
	}
	return true
}

func statusKind(name string) StatusKind {
	switch name {
	case "permission":
		return StatusPermission
	case "question":
		return StatusQuestion
	case "auth":
		return StatusAuth
	}
	return StatusUnspecified
}

// setState reads a state by its name; clear is StatusNone.
func (p *ProgramStatus) setState(name string) bool {
	if name == "clear" {
		return true
	}
	for s := StatusIdle; s <= StatusError; s++ {
		if s.String() == name {
			p.State = s
			return true
		}
	}
	return false
}

func validStatusID(id string) bool {
	if id == "" {
		return true
	}
	if len(id) > maxStatusID || strings.Count(id, "/") >= maxStatusDepth {
		return false
	}
	for name := range strings.SplitSeq(id, "/") {
		if name == "" || len(name) > maxStatusName || !only([]byte(name), statusNames) {
			return false
		}
	}
	return true
}

// statusText decodes a text of at most limit bytes. One that is not base64 of UTF-8, or has a control, is refused.
func statusText(encoded string, limit int) (string, bool) {
	b, err := decodeBase64([]byte(encoded))
	if err != nil || len(b) > limit || !utf8.Valid(b) {
		return "", false
	}
	for _, r := range string(b) {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return "", false
		}
	}
	return cleanText(b, limit), true
}

// stringEnd is how an answer to a string ends: as the question did.
func stringEnd(bell bool) string {
	if bell {
		return "\a"
	}
	return "\x1b\\"
}
