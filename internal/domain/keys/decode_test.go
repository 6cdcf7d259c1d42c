package keys

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// told is an event with its bytes.
type told struct {
	e   Event
	raw string
}

// decode feeds the reads to d as a caller does, and ends with the wait for more being over. Texts of a paste are joined.
func decode(d *Decoder, reads ...string) (out []told) {
	var p []byte
	take := func(more bool) {
		for len(p) > 0 {
			e, n := d.Next(p, more)
			if n == 0 {
				if !more && !d.Pasting() || len(p) >= MaxSequence {
					panic("waits for ever")
				}
				return
			}
			if last := len(out) - 1; e.Kind == PasteText && last >= 0 && out[last].e.Kind == PasteText {
				out[last].raw += string(p[:n])
			} else {
				out = append(out, told{e, string(p[:n])})
			}
			p = p[n:]
		}
	}
	for _, r := range reads {
		p = append(p, r...)
		take(true)
	}
	take(false)
	return out
}

func events(in []told) (out []Event) {
	for _, x := range in {
		out = append(out, x.e)
	}
	return out
}

func keyed(k Key, mods Mods) Event { return Event{Kind: KeyEvent, Key: k, Mods: mods} }

var decodeCases = []struct {
	name, in string
	want     []Event
}{
	{"text", "aAé€", []Event{Char('a'), Char('A'), Char('é'), Char('€')}},
	{"controls", "\x00\x01\t\r\n\x1c\x1f\x7f\b", []Event{
		keyed(Space, Ctrl), keyed('a', Ctrl), keyed(Tab, 0), keyed(Enter, 0), keyed('j', Ctrl), keyed('\\', Ctrl), keyed('_', Ctrl),
		keyed(Backspace, 0), keyed('h', Ctrl),
	}},
	{"escape alone", "\x1b", []Event{keyed(Escape, 0)}},
	{"alt", "\x1bx\x1bX\x1b\r\x1b\x7f\x1b\x01\x1bé", []Event{
		keyed('x', Alt),
		{Kind: KeyEvent, Key: 'x', Shifted: 'X', Mods: Alt | Shift},
		keyed(Enter, Alt), keyed(Backspace, Alt),
		keyed('a', Alt|Ctrl), keyed('é', Alt),
	}},
	{"alt and what begins sequences", "\x1b[", []Event{keyed('[', Alt)}},
	{"alt-O", "\x1bO", []Event{{Kind: KeyEvent, Key: 'o', Shifted: 'O', Mods: Alt | Shift}}},
	{"alt-] is no string unasked", "\x1b]11;x", []Event{keyed(']', Alt), Char('1'), Char('1'), Char(';'), Char('x')}},
	{"two escapes", "\x1b\x1b", []Event{keyed(Escape, Alt)}},
	{"alt and a sequence", "\x1b\x1b[A\x1b\x1bOA\x1b\x1b[Z", []Event{keyed(Up, Alt), keyed(Up, Alt), keyed(Tab, Alt|Shift)}},
	{"escape and a report", "\x1b\x1b[I\x1b\x1b[<0;1;1M", []Event{
		keyed(Escape, 0), {Kind: FocusIn}, keyed(Escape, 0), {Kind: MouseEvent},
	}},
	{"cursor keys", "\x1b[A\x1bOB\x1b[1;5C\x1b[1;3D\x1b[H\x1bOF\x1b[E", []Event{
		keyed(Up, 0), keyed(Down, 0), keyed(Right, Ctrl), keyed(Left, Alt), keyed(Home, 0), keyed(End, 0), keyed(KPBegin, 0),
	}},
	{"other terminals' cursor keys", "\x1b[1~\x1b[4~\x1b[7~\x1b[8~\x1b[a\x1bOd", []Event{
		keyed(Home, 0), keyed(End, 0), keyed(Home, 0), keyed(End, 0), keyed(Up, Shift), keyed(Left, Ctrl),
	}},
	{"function keys", "\x1bOP\x1b[11~\x1b[[A\x1b[P\x1b[1;2P\x1b[15~\x1b[24;5~\x1b[25~\x1b[34~\x1b[29~\x1b[13;2~\x1b[[E", []Event{
		keyed(F1, 0), keyed(F1, 0), keyed(F1, 0), keyed(F1, 0), keyed(F1, Shift), keyed(F5, 0), keyed(F12, Ctrl), keyed(F13, 0),
		keyed(F13+7, 0), keyed(Menu, 0), keyed(F3, Shift), keyed(F5, 0),
	}},
	{"keypad", "\x1bOp\x1bOM\x1bOk\x1b[57414u", []Event{keyed(KP0, 0), keyed(KPEnter, 0), keyed(KPAdd, 0), keyed(KPEnter, 0)}},
	{"F3 and the cursor's position", "\x1b[1;2R\x1bOR\x1b[3;2R", []Event{keyed(F3, Shift), keyed(F3, 0), {Kind: Reply}}},
	{"kitty", "\x1b[97;5u\x1b[97:65;2u\x1b[1089::99;5:2u\x1b[27u\x1b[57441;2u\x1b[1;1:3A\x1b[97;69u", []Event{
		keyed('a', Ctrl), Char('A'),
		{Kind: KeyEvent, Key: 'с', Base: 'c', Mods: Ctrl, Action: Repeat},
		keyed(Escape, 0),
		keyed(LeftShift, Shift),
		{Kind: KeyEvent, Key: Up, Action: Release},
		keyed('a', Ctrl|CapsLock),
	}},
	{"kitty text", "\x1b[97;2;65u\x1b[97;;229u\x1b[0;;110:233u\x1b[97;;97u", []Event{
		Char('A'), {Kind: KeyEvent, Key: 'a', Text: "å"}, {Kind: KeyEvent, Text: "né"}, Char('a'),
	}},
	{"modifyOtherKeys", "\x1b[27;5;97~\x1b[27;6;72~\x1b[72;6u\x1b[27;2;13~\x1b[27;5;9~", []Event{
		keyed('a', Ctrl),
		{Kind: KeyEvent, Key: 'h', Shifted: 'H', Mods: Ctrl | Shift},
		{Kind: KeyEvent, Key: 'h', Shifted: 'H', Mods: Ctrl | Shift},
		keyed(Enter, Shift), keyed(Tab, Ctrl),
	}},
	{"mouse", "\x1b[<0;1;2M\x1b[<0;1;2m\x1b[<35;10;20M\x1b[<64;1;1M\x1b[<28;300;400M\x1b[<32;1;1M\x1b[<128;1;1M", []Event{
		{Kind: MouseEvent, Mouse: Mouse{Y: 1}},
		{Kind: MouseEvent, Mouse: Mouse{Y: 1, Action: MouseRelease}},
		{Kind: MouseEvent, Mouse: Mouse{Button: ButtonNone, Action: MouseMotion, X: 9, Y: 19}},
		{Kind: MouseEvent, Mouse: Mouse{Button: WheelUp}},
		{Kind: MouseEvent, Mods: Shift | Alt | Ctrl, Mouse: Mouse{X: 299, Y: 399}},
		{Kind: MouseEvent, Mouse: Mouse{Action: MouseMotion}},
		{Kind: MouseEvent, Mouse: Mouse{Button: Button8}},
	}},
	{"older mouse", "\x1b[M !\"\x1b[M#!!\x1b[M\xa0\xff\xff\x1b[35;10;20M", []Event{
		{Kind: MouseEvent, Mouse: Mouse{Y: 1}},
		{Kind: MouseEvent, Mouse: Mouse{Button: ButtonNone, Action: MouseRelease}},
		{Kind: MouseEvent, Mouse: Mouse{Button: Button8, X: 222, Y: 222}},
		{Kind: MouseEvent, Mouse: Mouse{Button: ButtonNone, Action: MouseRelease, X: 9, Y: 19}},
	}},
	{"focus", "\x1b[I\x1b[O", []Event{{Kind: FocusIn}, {Kind: FocusOut}}},
	{"paste", "\x1b[200~ls\x1c\x1b[A\x1b[200~\x1b[201\x1b[201~x", []Event{{Kind: PasteBegin}, {Kind: PasteText}, {Kind: PasteEnd}, Char('x')}},
	{"escape and a paste", "\x1b\x1b[200~x\x1b[201~", []Event{keyed(Escape, 0), {Kind: PasteBegin}, {Kind: PasteText}, {Kind: PasteEnd}}},
	{"paste end without begin", "\x1b[201~", []Event{{Kind: PasteEnd}}},
	{"answers", "\x1b[?62;22c\x1b[>41;379;0c\x1b[0n\x1b[?2026;2$y\x1b[?1u\x1b[8;24;80t\x1b[12;40R", []Event{
		{Kind: Reply}, {Kind: Reply}, {Kind: Reply}, {Kind: Reply}, {Kind: Reply}, {Kind: Reply}, {Kind: Reply},
	}},
	{"broken off", "\x1b[1;\x1b[A\x1b[5\x03", []Event{{Kind: Unknown}, keyed(Up, 0), {Kind: Unknown}, keyed('c', Ctrl)}},
	{"bad numbers", "\x1b[97;0u\x1b[97;1:4u\x1b[55296u\x1b[97;257u\x1b[99999999999u\x1b[97;;27u\x1b[1;2;3;4;5;6u", []Event{
		{Kind: Unknown}, {Kind: Unknown}, {Kind: Unknown}, {Kind: Unknown}, {Kind: Unknown}, {Kind: Unknown}, {Kind: Unknown},
	}},
	{"a mouse nowhere", "\x1b[<0;0;1M\x1b[<256;1;1M\x1b[M  !", []Event{{Kind: Reply}, {Kind: Reply}, {Kind: Reply}}},
	{"no UTF-8", "\xffa\xc3", []Event{{Kind: Unknown}, Char('a'), {Kind: Unknown}}},
	{"C1 is no key", "\u009b31m", []Event{{Kind: Unknown}, Char('3'), Char('1'), Char('m')}},
}

func TestDecodeAtEverySplit(t *testing.T) {
	for _, c := range decodeCases {
		for cut := range len(c.in) {
			got := decode(&Decoder{}, c.in[:cut], c.in[cut:])
			require.Equal(t, c.want, events(got), "%s, cut at %d", c.name, cut)
			var all strings.Builder
			for _, x := range got {
				all.WriteString(x.raw)
			}
			require.Equal(t, c.in, all.String(), "no byte is lost: %s, cut at %d", c.name, cut)
		}
	}
}

func TestDecodeWithoutWaiting(t *testing.T) {
	for in, want := range map[string][]Event{
		"\x1b":      {keyed(Escape, 0)},
		"\x1b[":     {keyed('[', Alt)},
		"\x1b[1;5":  {{Kind: Unknown}},
		"\x1b[<0;1": {{Kind: Unknown}},
		"\x1b[M!":   {{Kind: Unknown}},
		"\xc3":      {{Kind: Unknown}},
		"\x1b\xc3":  {keyed(Escape, 0), {Kind: Unknown}},
		"\x1b\x1b[": {keyed(Escape, 0), keyed('[', Alt)},
	} {
		var d Decoder
		var got []Event
		for p := []byte(in); len(p) > 0; {
			e, n := d.Next(p, false)
			require.Positive(t, n, "%q", in)
			got, p = append(got, e), p[n:]
		}
		require.Equal(t, want, got, "%q", in)
	}
}

func TestTheEndOfAPasteIsAlwaysWaitedFor(t *testing.T) {
	var d Decoder
	got := decode(&d, "\x1b[200~x\x1b[20")
	require.Len(t, got, 2)
	require.True(t, d.Pasting())
	_, n := d.Next([]byte("\x1b[20"), false)
	require.Zero(t, n)
	e, n := d.Next([]byte("\x1b[201~"), false)
	require.Equal(t, told{Event{Kind: PasteEnd}, "\x1b[201~"}, told{e, "\x1b[201~"[:n]})
}

func TestASequenceOverTheBoundIsKeys(t *testing.T) {
	in := "\x1b[" + strings.Repeat("1", MaxSequence-3) + "A"
	require.Len(t, decode(&Decoder{}, in), 1)
	got := decode(&Decoder{}, "\x1b[1"+in[2:])
	require.Equal(t, []Event{{Kind: Unknown}, Char('A')}, events(got))
}
