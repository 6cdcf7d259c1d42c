package main

import "regexp"

// knownDifference is a difference that is decided in the engine's favour. It is told by its smallest reproduction and
// by what the voices say.
type knownDifference struct {
	name          string
	input, detail *regexp.Regexp
	// why is the argument, with the section of the specification where there is one.
	why string
}

var anything = regexp.MustCompile("")

var knownDifferences = []knownDifference{
	{
		"DECSTR and DECALN leave dim, italic and strike-out in xterm",
		regexp.MustCompile(`\x1b(\[!p|#8)`), regexp.MustCompile(`dim|italic|strike`),
		"DECSTR sets SGR to normal rendition (DEC STD 070, VT510 manual, DECSTR); these are renditions of SGR.",
	},
	{
		"a background that DECRC took away comes back in xterm with inverse",
		regexp.MustCompile(`\x1b(8|\[u|\[\?104[89]l)`), regexp.MustCompile(`ours or xterm: (cell \S+: '(.*)'.* bg .* or '(.*)'|cell \S+: '(.*)'.* or '(.*)'.* bg |replies: .*\$r[0-9;:]*;(4|10)\d)`),
		"DECRC restores the attributes that DECSC saved (DEC STD 070, DECRC); xterm 379 keeps the older colour for SGR 7 and 27.",
	},
	{
		"REP behind something else than a character prints in xterm",
		regexp.MustCompile(`(^|[^ -~]|\x1b\[[0-9;?!]*[ -~])\x1b\[\d*b`), anything,
		"REP repeats the preceding graphic character (ECMA-48 8.3.103); behind anything else it is undefined, and the engine does nothing.",
	},
	{
		"xterm keeps half of a wide character, or gives it another style",
		regexp.MustCompile(`[\x{2e80}-\x{ffff}]`), regexp.MustCompile(`ours or xterm: cell \d+,\d+: ' '[^']* or (' '|spacer|'[^\x00-\x{2fff}]')`),
		"Half of a character is none (UAX 11); ECMA-48 and DEC STD 070 have no wide characters. The engine does as xterm.js.",
	},
	{
		"xterm shifts wide characters it cuts by other columns",
		regexp.MustCompile(`[\x{2e80}-\x{ffff}].*\x1b\[\d*[@P]|\x1b\[4h.*[\x{2e80}-\x{ffff}]`), regexp.MustCompile(`^ours or xterm: cell \S+: [^;]*$`),
		"A column is a column (ECMA-48 8.3.26, 8.3.64); xterm.js agrees with the engine.",
	},
	{
		"DECSC forgets a pending wrap in xterm.js",
		regexp.MustCompile(`\x1b(7|\[s)(?s:.*)\x1b(8|\[\d*u)`), regexp.MustCompile(`^ours or xterm: ; ours or xterm.js: (cursor|pending|cell)`),
		"DECSC saves the state of autowrap, its pending wrap included (DEC STD 070, DECSC); xterm agrees.",
	},
	{
		"HT behind the right margin goes back to it in xterm",
		regexp.MustCompile(`\x1b\[\?69h`), regexp.MustCompile(`^ours or xterm: cursor: (\d+),(\d+) or \d+,(\d+); `),
		"CHT moves forward to a following stop (ECMA-48 8.3.10), and HT too.",
	},
	{
		"insert mode over the left margin inserts in xterm by the run it reads",
		regexp.MustCompile(`\x1b\[4h.*\x1b\[\?69h|\x1b\[\?69h.*\x1b\[4h`), anything,
		"IRM inserts each character at the active position (ECMA-48 7.2.10); within the margins as DECSLRM says (DEC STD 070).",
	},
	{
		"RIS leaves the alternate screen in xterm",
		regexp.MustCompile(`\x1bc.*\x1b\[\?(47|104[79])h`), anything,
		"RIS makes the state of power-on (ECMA-48 8.3.105), which has nothing on any page.",
	},
	{
		"DECFRA and DECERA keep colours in xterm where the pen has none",
		regexp.MustCompile(`\$[xz]`), regexp.MustCompile(`ours or xterm: cell \S+: '(.*)'.* or '.*'.* (bg|fg) `),
		"The fill character has the attributes of the last SGR (VT510 manual, DECFRA), and the default colours are such.",
	},
	{
		"DECERA has the pen's renditions in xterm",
		regexp.MustCompile(`\$z`), regexp.MustCompile(`ours or xterm: cell \S+: ' '.* or ' '.* (bold|blink|inverse|underline)`),
		"DECERA erases character and attributes (VT510 manual, DECERA).",
	},
	{
		"DECCRA of blanks makes colours over 15 in xterm",
		regexp.MustCompile(`\$v`), regexp.MustCompile(`or ('.'|spacer).* [bf]g \d{3,}`),
		"A copy has the colours of its source (VT510 manual, DECCRA).",
	},
	{
		"erased cells keep the pen's foreground in xterm, which DECCARA and DECRARA then show",
		regexp.MustCompile(`\$[rt]`), regexp.MustCompile(`ours or xterm: cell \S+: ' '.* or ' '.* fg `),
		"Erasing leaves a cell without attributes but for the background, as terminfo's bce says.",
	},
	{
		"ESC l and ESC m lock memory in xterm",
		regexp.MustCompile(`\x1b[lm]`), anything,
		"HP's, not of ECMA-48 or DEC; ESC l is a private function of ECMA-35 with no meaning here.",
	},
	{
		"DECRC leaves the underline's colour and the link in xterm.js",
		regexp.MustCompile(`\x1b(\[58|\]8).*\x1b(8|\[u)`), regexp.MustCompile(`^ours or xterm: ; ours or xterm.js: cell .*link=`),
		"DECRC restores the attributes that DECSC saved (DEC STD 070, DECRC), of which this is one.",
	},
	{
		"CBT with a wrap pending counts one column more in xterm.js",
		regexp.MustCompile(`\x1b\[\d*Z`), regexp.MustCompile(`^ours or xterm: ; ours or xterm.js: cursor`),
		"The active position is the last column (ECMA-48 8.3.7, DEC STD 070, autowrap); xterm agrees.",
	},
	{
		"DECREQTPARM is answered",
		regexp.MustCompile(`\x1b\[[01]?x`), regexp.MustCompile(`replies: "\\x1b\[[23];1;1;128`),
		"A terminal answers DECREQTPARM (VT100 manual); xterm does where it poses as a VT100 only.",
	},
	{
		"DECID and DA say who answers",
		regexp.MustCompile(`\x1b(Z|\[[>=]?0?c)`), regexp.MustCompile(`replies: "\\x1b\[[?>]|replies: "\\x1bP!`),
		"The answers of DA name what the engine has.",
	},
	{
		"a mark on a letter makes one code point in xterm",
		regexp.MustCompile(`[\x{300}-\x{36f}]`), regexp.MustCompile(`ours or xterm: cell \S+: '[a-zA-Z]'.* or '[^ -~]'`),
		"Normalising is not the terminal's: what was written is what is copied.",
	},
	{
		"SU of all lines between the margins clears the whole screen in xterm",
		regexp.MustCompile(`\x1b\[\d*;?\d*r.*\x1b\[\d*S`), regexp.MustCompile(`ours or xterm: cell \S+: ('.*'.* or ' '|' '.* or ' '.* bg )`),
		"Scrolling is within the margins (DEC STD 070, SU).",
	},
	{
		"the saved cursor stays in its row in xterm where a smaller alternate screen loses lines at the top",
		regexp.MustCompile(`\x1b\[\?1049h.*\x1b(7|\[s).*\x1b(8|\[u)`), regexp.MustCompile(`^ours or xterm: cursor: `),
		"No specification has sizes that change; the engine keeps it on its text, as xterm.js does.",
	},
	{
		"a rectangle's omitted corner is the margins' in xterm, and in origin mode counted from them again",
		regexp.MustCompile(`\x1b\[\?6h.*\$[xzrtv{]`), anything,
		"The default is 1 (VT510 manual, DECFRA, DECERA, DECCARA), and in origin mode from the margins (DECOM).",
	},
	{
		"DECRC in origin mode may leave the margins in xterm",
		regexp.MustCompile(`\x1b\[\?6h(?s:.*)\x1b(8|\[\d*u|\[\?104[89]l)`), anything,
		"In origin mode the cursor is within the margins (DEC STD 070, VT510 manual, DECOM); xterm.js agrees.",
	},
	{
		"DECSTR takes the protection of all cells away in xterm",
		regexp.MustCompile(`\x1b\[!p.*\x1b\[(\?\d?[JK]|[\d;]*\$\{)`), anything,
		"DECSTR sets the attribute of what is written next (VT510 manual, DECSTR); what is protected is (DECSCA).",
	},
	{
		"a selective erase of protected cells keeps a pending wrap in xterm",
		regexp.MustCompile(`\x1b\[1"q(?s:.*)\x1b\[\?\d?[JK]`), regexp.MustCompile(`ours or xterm: (cell|cursor)`),
		"DECSEL and DECSED end a pending wrap as EL and ED do, whatever they find (DEC STD 070, EL); xterm does where it erases.",
	},
}

// excuse returns the name of the known difference that the smallest reproduction s shows, "" for a new one.
func excuse(s *session, o outcome) string {
	for _, k := range knownDifferences {
		if k.input.MatchString(s.text()) && k.detail.MatchString(o.detail) {
			return k.name
		}
	}
	return ""
}
