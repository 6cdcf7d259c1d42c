package vt

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxTitles     = 10      // XTWINOPS 22; further pushes are ignored
	maxTitleBytes = 1 << 10 // a longer title is cut at a character
	maxCwdBytes   = 4 << 10 // a longer directory is ignored
)

// osc acts on a whole operating system command. bell: an answer ends with BEL, as the question did.
func (t *Terminal) osc(s []byte, bell bool) {
	number, rest, _ := bytes.Cut(s, []byte{';'})
	n, err := strconv.Atoi(string(number))
	if err != nil || len(number) > 4 {
		return
	}
	switch n {
	case 0, 2:
		t.scratch = appendClean(t.scratch[:0], rest, maxTitleBytes)
		if string(t.scratch) != t.title {
			t.setTitle(string(t.scratch))
		}
	case 4, 5:
		t.colorList(n, rest, bell)
	case 7:
		t.setCwd(rest)
	case 8:
		t.setLink(rest)
	case 9:
		t.osc9(rest)
	case 10, 11, 12, 13, 14, 15, 16, 17, 18, 19:
		t.dynamicColors(n, rest, bell)
	case 52:
		t.clipboard(rest)
	case 99:
		t.kittyNotification(rest)
	case 104, 105:
		t.resetColorList(n, rest)
	case 110, 111, 112, 113, 114, 117, 119:
		t.setDynamicColor(n-100, 0)
	case 133:
		t.promptMark(rest)
	case 777:
		if title, ok := bytes.CutPrefix(rest, []byte("notify;")); ok {
			title, body, _ := bytes.Cut(title, []byte{';'})
			t.notify(title, body)
		}
	case 1337: // iTerm2: of its many, the directory; images and the rest mean nothing here
		if dir, ok := bytes.CutPrefix(rest, []byte("CurrentDir=")); ok {
			t.setCwd(dir)
		}
	case 7501:
		t.programStatus(rest, bell)
	}
}

// cleanText is appendClean as a string.
func cleanText(b []byte, limit int) string { return string(appendClean(nil, b, limit)) }

// appendClean appends data of the program made fit to be shown: valid UTF-8, no controls, at most limit bytes of it.
func appendClean(dst, b []byte, limit int) []byte {
	limit += len(dst)
	for len(b) > 0 {
		r, n, _ := decodeRune(b)
		b = b[n:]
		if r < 0x20 || r >= 0x7f && r < 0xa0 || isBidiControl(r) {
			continue
		}
		if len(dst)+utf8.RuneLen(r) > limit {
			break
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// isBidiControl reports code points that reorder the text around them, by which a title could forge what follows it.
func isBidiControl(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

func (t *Terminal) setTitle(s string) {
	if s == t.title {
		return
	}
	t.title = s
	t.changed = true
	t.emit(Event{Kind: EventTitle, Text: s})
}

func (t *Terminal) setCwd(b []byte) {
	if len(b) > maxCwdBytes {
		return
	}
	if s := cleanText(b, maxCwdBytes); s != t.cwd {
		t.cwd = s
		t.emit(Event{Kind: EventCwd, Text: s})
	}
}

// setLink is OSC 8: parameters, a semicolon, a URI; the link ends with an empty one. One that is too long as it came, or
// with U+FFFD for what is no text in it, is no link: a part of it would lead elsewhere.
func (t *Terminal) setLink(b []byte) {
	params, uri, ok := bytes.Cut(b, []byte{';'})
	if !ok {
		return
	}
	var id []byte
	if len(b) > maxLinkBytes {
		uri = nil
	}
	for p := range bytes.SplitSeq(params, []byte{':'}) {
		if v, ok := bytes.CutPrefix(p, []byte("id=")); ok {
			id = v
		}
	}
	const grown = 3 * maxLinkBytes // U+FFFD for each byte
	t.scratch = appendClean(t.scratch[:0], uri, grown)
	n := len(t.scratch)
	t.scratch = appendClean(t.scratch, id, grown)
	long := len(";") + len(t.scratch)
	if len(t.scratch) > n {
		long += len("id=")
	}
	if long > maxLinkBytes {
		t.scratch, n = t.scratch[:0], 0
	}
	t.setLinkBytes(t.scratch[:n], t.scratch[n:])
	t.setPen(t.pen)
}

// clipboard is OSC 52. A question about the clipboard gets no answer.
func (t *Terminal) clipboard(b []byte) {
	selection, data, ok := bytes.Cut(b, []byte{';'})
	if !ok || string(data) == "?" || len(selection) > 16 {
		return
	}
	text, err := decodeBase64(data)
	if err != nil || len(text) > maxClipboard {
		return
	}
	sel := strings.Map(func(r rune) rune {
		if strings.ContainsRune("cpqs01234567", r) {
			return r
		}
		return -1
	}, string(selection))
	t.emit(Event{Kind: EventClipboard, Text: sel, Data: text})
}
