package vt

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exception is a case of a corpus that the engine answers otherwise.
type exception struct {
	section string // of the specification that says so
	why     string // the engine is right, or what it is for
}

const (
	sectionRIS      = "ECMA-48 8.3.105 (RIS)"
	sectionSizes    = "xterm ctlseqs, XTWINOPS and mode 40: both may be disabled (allowWindowOps, c132)"
	sectionDA       = "ECMA-48 8.3.24 (DA)"
	sectionS8C1T    = "RFC 3629, 3: in UTF-8 a control of C1 has two bytes, and one of 0x80 to 0x9F alone is ill-formed"
	sectionXcms     = "X11 Xcms, device-independent colour; xterm ctlseqs, OSC 4: XParseColor"
	sectionSRM      = "ECMA-48 7.2.15 (SRM)"
	sectionLocator  = "xterm ctlseqs, DSR ?53, ?55, ?56"
	sectionTitles   = "xterm ctlseqs, XTWINOPS: may be disabled (allowWindowOps)"
	sectionBackward = "ECMA-48 8.3.58 (HPB), 8.3.159 (VPB); not in xterm ctlseqs"
	sectionSGR      = "ECMA-48 8.3.117 (SGR)"
	sectionNone     = "none: sizes that change are in no specification"
)

const (
	whyFixedSize = "the size is the attached terminals' and the session's policy; a program that could change it would change it for everybody"
	whyXcms      = "the conversion takes a display's calibration, which a broker of terminals has not; the colour is left alone"
	whyNoTitles  = "titles are never reported: the answer would be bytes of a program's choice, typed into whatever runs"
	whyBackward  = "xterm carries out neither, and the pairs of xterm-esc (t0032-VPB, t0033-VPB_scroll) want that"
	whySingle    = "lines of double width are shown plain: a cell has one size, as in every terminal vev is attached to by default"
	whyPlain     = "there is one font, and no raised or lowered text, as in xterm 379"
	whyNoKeys    = "what keys and the mouse send is made by package keys, for which its own tests take the tables of xterm's ctlseqs"
)

// corpusExceptions are the cases by corpus; a name of esctest may be a beginning. The list of libvterm has FILE:LINE,LINE
// of the original script, or a FILE.
var corpusExceptions = map[string]map[string]exception{
	"xterm-esc": {
		"t0060-DECSC": {"DEC STD 070, D.6.1", "the pending wrap is part of what is saved, as in xterm 379, which the pairs are older than"},
		"t0061-CSI_s": {"DEC STD 070, D.6.1; xterm ctlseqs, SCOSC", "the same for CSI s"},
	},
	"alacritty": {
		"decaln_reset":      {"DEC STD 070, D.8 (DECALN)", "DECALN resets the margins; there it keeps them"},
		"deccolm_reset":     {"xterm ctlseqs, mode 40", "DECCOLM does nothing unless it is allowed"},
		"erase_in_line":     {"DEC STD 070, D.6.1", "erasing drops a pending wrap, as in xterm 379"},
		"grid_reset":        {sectionRIS, "the state of power-on has no history"},
		"saved_cursor_alt":  {"xterm ctlseqs, mode 1049", "each screen has a saved cursor of its own, as in xterm 379"},
		"selective_erasure": {"DEC STD 070, 5.11.1.2 and DECSCA", "protected cells stay; there is no protection there"},
		"underline":         {"ECMA-48 8.3.117 (SGR), 21", "21 is a double underline; there it ends bold"},
		"scroll_in_region_up_preserves_history": {
			"ECMA-48 8.3.39 (ED)", "erasing moves nothing, also not into the history, as in xterm 379",
		},
	},
	"esctest-xterm": {
		"ChangeColorTests.test_ChangeColor_CIE":                  {sectionXcms, whyXcms},
		"ChangeColorTests.test_ChangeColor_RGBI":                 {sectionXcms, whyXcms},
		"ChangeColorTests.test_ChangeColor_TekHVC":               {sectionXcms, whyXcms},
		"ChangeDynamicColorTests.test_ChangeDynamicColor_CIE":    {sectionXcms, whyXcms},
		"ChangeDynamicColorTests.test_ChangeDynamicColor_RGBI":   {sectionXcms, whyXcms},
		"ChangeDynamicColorTests.test_ChangeDynamicColor_TekHVC": {sectionXcms, whyXcms},
		"ChangeSpecialColorTests.test_ChangeSpecialColor_CIE":    {sectionXcms, whyXcms},
		"ChangeSpecialColorTests.test_ChangeSpecialColor_RGBI":   {sectionXcms, whyXcms},
		"ChangeSpecialColorTests.test_ChangeSpecialColor_TekHVC": {sectionXcms, whyXcms},
		"ResetSpecialColorTests.test_ResetSpecialColor_Single2": {
			"xterm ctlseqs, OSC 105", "the recorded xterm began with a colour that an earlier test had set; reset means the default",
		},
		"ResetSpecialColorTests.test_ResetSpecialColor_Dynamic": {
			"xterm ctlseqs, OSC 110", "the default foreground is the user's, there black; without one light grey is answered",
		},
		"DECDSRTests.test_DECDSR_DSRDECLocatorStatus":   {sectionLocator, "there is no locator, and the answer says so"},
		"DECDSRTests.test_DECDSR_DSRXtermLocatorStatus": {sectionLocator, "there is no locator, and the answer says so"},
		"DECIDTests.test_DECID_Basic":                   {sectionS8C1T, "answers are in 7-bit form always: programs of today read UTF-8"},
		"DECRQMTests.test_DECRQM_ANSI_SRM":              {sectionSRM, "echo is the tty's, not the terminal's: the mode is always set, and reported so"},
		"DECRQMTests.test_DECRQM_DEC_DECCOLM":           {sectionSizes, whyFixedSize},
		"DECRQSSTests.test_DECRQSS_DECSNLS":             {sectionSizes, whyFixedSize},
		"DECSCLTests.test_DSCSCL_Level3_SupportsDECRQMDoesntSupportDECSLRM": {
			"DEC STD 070, 4-22 (DECSCL)", "the conformance level is fixed: a lower one only takes away what a program asked not to use",
		},
		"DECSETTests.test_DECSET_Allow80To132": {sectionSizes, whyFixedSize},
		"DECSETTests.test_DECSET_DECCOLM":      {sectionSizes, whyFixedSize},
		"RISTests.test_RIS_ResetDECCOLM":       {sectionSizes, whyFixedSize},
		"XtermWinopsTests.test_XtermWinops_":   {sectionSizes, whyFixedSize + "; pixels and positions are not known"},
		"ManipulateSelectionDataTests.test_ManipulateSelectionData_default": {
			"xterm ctlseqs, OSC 52 (allowWindowOps)", "the clipboard is written by policy and never read: any program could ask",
		},
		"RISTests.test_RIS_ResetTitleMode": {sectionTitles, whyNoTitles},
		"SMTitleTests.test_SMTitle_":       {sectionTitles, whyNoTitles},
	},
	"libvterm": {
		"17state_mouse.test":                               {"xterm ctlseqs, Mouse Tracking", whyNoKeys},
		"25state_input.test":                               {"xterm ctlseqs, PC-Style Function Keys", whyNoKeys},
		"92lp1640917.test":                                 {"xterm ctlseqs, Mouse Tracking", whyNoKeys},
		"40state_selection.test":                           {"xterm ctlseqs, OSC 52", "a clipboard write comes as one event when it is whole, not in pieces; none is read"},
		"28state_dbl_wh.test":                              {"DEC STD 070, 5.6.1 (DECDWL)", whySingle},
		"67screen_dbl_wh.test":                             {"DEC STD 070, 5.6.1 (DECDWL)", whySingle},
		"10state_putglyph.test:58":                         {"none: Unicode knows no most", "the text of a cell has a limit, there of six code points, here in bytes, so that an emoji of a family has room"},
		"61screen_unicode.test:35,41":                      {"none: Unicode knows no most", "the same"},
		"11state_movecursor.test:178,194":                  {sectionBackward, whyBackward},
		"13state_edit.test:81":                             {"DEC STD 070, 5-146 (IL), note 2", "IL goes to the left margin, as in xterm 379"},
		"13state_edit.test:269":                            {"DEC STD 070, 5-166 (DECSCA)", "2 switches off what 1 switches on, as 0 does, and is reported as such, as in xterm 379"},
		"14state_encoding.test:59,65,66,72,75,81,84,90,93": {sectionS8C1T, "text is UTF-8 always; the input is of single bytes over 0x7F"},
		"16state_resize.test:36":                           {sectionNone, "lines are wrapped anew, and the cursor stays on its text"},
		"22state_save.test:31,32,45,46,55,56,62,63":        {"DEC STD 070, 5.13.1 (DECSC)", "what is saved does not include the cursor's look, as in xterm 379"},
		"26state_query.test:7":                             {sectionDA, "the answer tells who answers, and what it has"},
		"26state_query.test:12":                            {"xterm ctlseqs, XTVERSION", "the answer tells who answers"},
		"26state_query.test:27":                            {"DEC STD 070, 5-55 (DECXCPR)", "the report has a page"},
		"26state_query.test:37,42,47,52":                   {"xterm ctlseqs, DECRQSS", "a report of SGR begins with 0, so that it makes the same style from any other"},
		"26state_query.test:57":                            {"ITU-T T.416 13.1.8", "the same; and a direct colour has the place of a colour space"},
		"26state_query.test:62":                            {sectionS8C1T, "answers are in 7-bit form always"},
		"30state_pen.test:68,70":                           {sectionSGR, whyPlain},
		"30state_pen.test:118,119,121,122":                 {sectionSGR, whyPlain},
		"64screen_pen.test:28,41,42":                       {sectionSGR, whyPlain},
		"30state_pen.test:111,114":                         {sectionSGR, "bold changes no colour of the state; whether it shows brighter is the attached terminal's"},
		"31state_rep.test:42":                              {"ECMA-48 8.3.103 (REP)", "a mark is a character of its own; repeated is the one that has a place, as in xterm 379"},
		"31state_rep.test:127":                             {"ECMA-48 8.3.103 (REP)", "as often as it says, over the line's end as typing it would, as in xterm 379"},
		"63screen_resize.test:81,82,83,84,85":              {sectionNone, "the cursor's line stays where it is, and what is below comes back with the room for it"},
		"63screen_resize.test:103,104,105,106":             {sectionRIS, "the reset before cleared the history, so that nothing comes back"},
		"64screen_pen.test:46,47":                          {"DEC STD 070, 5-154 (EL)", "erasing leaves the empty rendition, but for the background, as terminfo's bce says and as in xterm.js"},
		"64screen_pen.test:67,70,71":                       {"none: a call of libvterm", "the default colours are the attached terminal's, not the cells'"},
		"69screen_reflow.test:74,75,76,78,79":              {sectionNone, "a full screen that gets room takes lines back from the history, as it does elsewhere in this corpus"},
	},
}

// excused returns the name of the exception that a case of the corpus falls under, "" for none.
func excused(corpus, name string) string {
	list := corpusExceptions[corpus]
	if _, ok := list[name]; ok {
		return name
	}
	for key := range list {
		switch corpus {
		case "esctest-xterm":
			if strings.HasPrefix(name, key) {
				return key
			}
		case "libvterm":
			if slices.Contains(eachLine(key), name) {
				return name
			}
		}
	}
	return ""
}

// eachLine returns FILE:LINE for each line that a name of libvterm's list has; others are returned alone.
func eachLine(key string) []string {
	file, lines, ok := strings.Cut(key, ":")
	if !ok {
		return []string{key}
	}
	var out []string
	for line := range strings.SplitSeq(lines, ",") {
		out = append(out, file+":"+line)
	}
	return out
}

// requireAllUsed fails for exceptions that no case needs any more.
func requireAllUsed(t *testing.T, corpus string, used map[string]bool) {
	t.Helper()
	for key := range corpusExceptions[corpus] {
		for _, name := range eachLine(key) {
			assert.True(t, used[name], "no exception any more: %s", name)
		}
	}
}

func TestExceptionsAreArgued(t *testing.T) {
	for corpus, list := range corpusExceptions {
		for name, e := range list {
			require.Greater(t, len(e.section), 10, "%s %s", corpus, name)
			require.NotEmpty(t, e.why, "%s %s", corpus, name)
		}
	}
}
