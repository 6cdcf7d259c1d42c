package vt

import (
	"bytes"
	"encoding/hex"
	"strings"
)

// termcap is what XTGETTCAP knows: name, then value as terminfo has it, with ESC for \E. A name without a value is a
// boolean capability. They are those by which programs look for more than xterm-256color's entry says.
var termcap = [...]struct{ name, value string }{
	{"TN", "xterm-256color"},
	{"name", "xterm-256color"},
	{"Co", "256"},
	{"colors", "256"},
	{"RGB", "8/8/8"},
	{"Tc", ""},
	{"Su", ""},
	{"XT", ""},
	{"setrgbf", "\x1b[38:2:%p1%d:%p2%d:%p3%dm"},
	{"setrgbb", "\x1b[48:2:%p1%d:%p2%d:%p3%dm"},
	{"Smulx", "\x1b[4:%p1%dm"},
	{"Setulc", "\x1b[58:2:%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%dm"},
	{"smol", "\x1b[53m"},
	{"rmol", "\x1b[55m"},
	{"smxx", "\x1b[9m"},
	{"rmxx", "\x1b[29m"},
	{"Ss", "\x1b[%p1%d q"},
	{"Se", "\x1b[0 q"},
	{"Cs", "\x1b]12;%p1%s\x07"},
	{"Cr", "\x1b]112\x07"},
	{"Ms", "\x1b]52;%p1%s;%p2%s\x07"},
	{"Sync", "\x1b[?2026%?%p1%{1}%-%tl%eh%;"},
	{"BE", "\x1b[?2004h"},
	{"BD", "\x1b[?2004l"},
	{"PS", "\x1b[200~"},
	{"PE", "\x1b[201~"},
	{"fe", "\x1b[?1004h"},
	{"fd", "\x1b[?1004l"},
	{"kxIN", "\x1b[I"},
	{"kxOUT", "\x1b[O"},
	{"Clmg", "\x1b[s"},
	{"Cmg", "\x1b[%i%p1%d;%p2%ds"},
	{"Enmg", "\x1b[?69h"},
	{"Dsmg", "\x1b[?69l"},
	{"Pst", "\x1b]7501;%p1%s\x1b\\"},
}

// maxTermcap bounds the names of one XTGETTCAP; further ones are not answered.
const maxTermcap = 64

// requestTermcap answers XTGETTCAP, a name at a time. The answers' names are the table's spelling, not the program's.
func (t *Terminal) requestTermcap(data []byte) {
	n := 0
	for encoded := range bytes.SplitSeq(data, []byte{';'}) {
		if n++; n > maxTermcap {
			return
		}
		name, err := hex.DecodeString(string(encoded))
		i := 0
		for i < len(termcap) && termcap[i].name != string(name) {
			i++
		}
		if err != nil || i == len(termcap) {
			t.reply("\x1bP0+r\x1b\\")
			continue
		}
		answer := upperHex(termcap[i].name)
		if value := termcap[i].value; value != "" {
			answer += "=" + upperHex(value)
		}
		t.reply("\x1bP1+r" + answer + "\x1b\\")
	}
}

func upperHex(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }
