// Package vt is the terminal engine: bytes of a program in; screen, numbered history, events and replies out.
//
// It owns one terminal's whole state: two screens (main and alternate), cursor, modes, colours, title, the history of
// lines that left the main screen, and the parser's place inside a sequence. It never reads a clock, starts a
// goroutine, takes a lock or does I/O: a [Terminal] belongs to one goroutine at a time.
//
// # Route of a byte
//
// [Terminal.Write] walks the slice once with a switch over the parser's state (parser.go). Printable ASCII is found in
// runs and copied straight into the cells of the cursor's row (print.go), and so are runs of code points that join
// nothing (print_run.go); everything else is dispatched to the file of its family: control.go (C0 and ESC), csi.go and
// csi_inter.go, sgr.go, mode_set.go, osc.go, dcs.go. A row that leaves the top of the main screen is packed into the
// history (history.go). Questions are answered into a buffer that the owner takes (reply.go), notable things become
// events (event.go). Write never fails, never waits, and gives the same state however its input was cut.
//
// # Shape of the state
//
// A [Cell] has 16 bytes and no pointer, so the collector never looks into a screen. What does not fit (grapheme
// clusters, hyperlinks, underline colours) lives in side tables of the Terminal (tables.go) that only grow until their
// cap and are then swept; a sweep renumbers cells and raises [Terminal.Generation], which tells whoever kept copies of
// cells to forget them. A screen is a slice of row pointers: scrolling moves pointers. A [Row] carries a version (the
// [Terminal.Version] of its last change) and an id that stays with it while it moves, so a painter sees a scroll as
// rows it knows in other places.
//
// # What it decides
//
// UTF-8 only: a raw byte 0x80 to 0x9F is never a control, U+0080 to U+009F is one (RFC 3629, 3). Width is the package's
// own decision, pinned to Unicode 17 (width.go), by grapheme cluster while mode 2027 is set, which it is after a reset.
//
// Modes are state rather than events: [Terminal.Modes] tells them and [Terminal.Version] grows when one changes.
//
// An answer never holds bytes that the program chose, numbers apart: titles, the clipboard and what is on the screen
// (DECRQCRA) are not reported, nor are identifiers of notifications. Questions about images are answered as their
// protocols have it: DA1 without sixel, XTSMGRAPHICS with an error, and silence for kitty's, whose programs take any
// answer as support. An image would be an object at a column of a numbered line; cells need no room for it. Answers
// that nobody takes are bounded by maxReplyBytes.
//
// A program changes neither the size of the screen nor a line's (DECCOLM, DECSLPP, DECDWL), there is no VT52 mode, and
// answers are 7-bit. Local echo is the tty's.
//
// # What it costs
//
// An input of n bytes costs O(n): of its own at most some hundred steps a byte, and each sequence at most six times the
// screen's cells, whatever its counts (cost_test.go). A terminal holds, whatever comes, at most the rows of two screens
// and maxBelow of 16 bytes a cell, the history's chunks ([Options]), about 6 MB of clusters and 25 MB of links, one
// string of at most maxClipboard in base64, maxEventBytes of events and maxReplyBytes of answers that nobody took
// (memory_test.go).
//
// # What is supported
//
// The table is every sequence with an effect, and those without one that programs are known to send; the rest is
// consumed and means nothing. A test holds it against the dispatch in the code and tries each example. Several numbers
// share a line, {} is each of them in its turn. What precedes a bar prepares the ground. \e is ESC.
//
// The effect is on the state (changes), an answer (answers), an event for the owner (event), or none (nothing).
//
// Controls and escape sequences:
//
//	C0 07                 BEL         event          \a
//	C0 08                 BS          changes        \b
//	C0 09                 HT          changes        \t
//	C0 0a, 0b, 0c         LF VT FF    changes        \x{}
//	C0 0d                 CR          changes        \r
//	C0 0e                 SO LS1      changes        \x0e
//	C0 0f                 SI LS0      changes        \x0e | \x0f
//	C0 18, 1a             CAN SUB     nothing        \e[31\x{}             ends a sequence or string
//	C0 00, 05, 7f         NUL ENQ     nothing        \x{}                   DEL is the last of a set of 96
//	ESC 6                 DECBI       changes        \e6
//	ESC 7                 DECSC       changes        \e7
//	ESC 8                 DECRC       changes        \e8
//	ESC 9                 DECFI       changes        \e9
//	ESC =                 DECKPAM     changes        \e=
//	ESC >                 DECKPNM     changes        \e= | \e>
//	ESC D                 IND         changes        \eD                   as U+0084; so with all of ESC @ to ESC _
//	ESC E                 NEL         changes        \eE
//	ESC H                 HTS         changes        \eH
//	ESC M                 RI          changes        \eM
//	ESC N, O              SS2 SS3     changes        \e{}
//	ESC V                 SPA         changes        \eV                   ED, EL and ECH leave what follows
//	ESC W                 EPA         changes        \eV | \eW
//	ESC Z                 DECID       answers        \eZ
//	ESC c                 RIS         changes        \ec
//	ESC n, o              LS2 LS3     changes        \e{}
//	ESC (, ), *, +        SCS         changes        \e{}0                 0 A and the national sets; % 6
//	ESC -, ., /           SCS 96      changes        \e{}A                 Latin-1
//	ESC # 8               DECALN      changes        \e#8
//	ESC # 3, 4, 5, 6      DECDHL ...  nothing        \e#{}                 lines stay single
//	ESC SP F, G, L, M, N  S7C1T ...   nothing        \e {}
//	ESC % @, G            DOCS        nothing        \e%{}                 always UTF-8
//	ESC |, }, ~           LS3R ...    nothing        \e{}
//	ESC F, l, m                       nothing        \e{}
//	APC                               nothing        \e_Gi=1,a=q;AAAA\e\\  kitty graphics
//	PM                                nothing        \e^x\e\\
//	SOS                               nothing        \eXx\e\\
//
// Control sequences:
//
//	CSI @          ICH              changes  \e[2@
//	CSI A          CUU              changes  \e[A
//	CSI B          CUD              changes  \e[B
//	CSI C          CUF              changes  \e[C
//	CSI D          CUB              changes  \e[D
//	CSI E          CNL              changes  \e[E
//	CSI F          CPL              changes  \e[F
//	CSI G, `       CHA HPA          changes  \e[5{}
//	CSI H, f       CUP HVP          changes  \e[2;3{}
//	CSI I          CHT              changes  \e[I
//	CSI J          ED               changes  \e[J                0 1 2, 3 the history
//	CSI K          EL               changes  \e[K
//	CSI L          IL               changes  \e[L
//	CSI M          DL               changes  \e[M
//	CSI P          DCH              changes  \e[P
//	CSI S          SU               changes  \e[S
//	CSI T, ^       SD               changes  \e[2{}
//	CSI X          ECH              changes  \e[X
//	CSI Z          CBT              changes  \e[Z
//	CSI a          HPR              changes  \e[a
//	CSI b          REP              changes  x | \e[3b           at most a screen full
//	CSI c          DA1              answers  \e[c
//	CSI d          VPA              changes  \e[2d
//	CSI e          VPR              changes  \e[e
//	CSI g          TBC              changes  \e[3g               0 and 3
//	CSI h, l       SM RM            changes  \e[4l | \e[4h       see the modes
//	CSI m          SGR              changes  \e[m                see the renditions
//	CSI n          DSR              answers  \e[5n               see the reports
//	CSI r          DECSTBM          changes  \e[2;4r
//	CSI s          SCOSC            changes  \e[s
//	CSI s          DECSLRM          changes  \e[?69h | \e[3;9s
//	CSI t          XTWINOPS         answers  \e[18t              see the reports
//	CSI u          SCORC            changes  \e[u
//	CSI x          DECREQTPARM      answers  \e[x
//	CSI ? J        DECSED           changes  \e[?2J
//	CSI ? K        DECSEL           changes  \e[?2K
//	CSI ? S        XTSMGRAPHICS     answers  \e[?1;1;0S          an error: no graphics
//	CSI ? W        DECST8C          changes  \e[3g | \e[?5W
//	CSI ? h, l     DECSET/RST       changes  \e[?6l | \e[?6h     see the modes
//	CSI ? g        XTQFMTKEYS       answers  \e[?4g
//	CSI ? m        XTQMODKEYS       answers  \e[?4m
//	CSI ? n        DECDSR           answers  \e[?6n              see the reports
//	CSI ? r        XTRESTORE        changes  \e[?2004r
//	CSI ? s        XTSAVE           changes  \e[?7s
//	CSI ? u                         answers  \e[?u               kitty keyboard
//	CSI > c        DA2              answers  \e[>c
//	CSI > f        XTFMTKEYS        changes  \e[>4;1f            formatOtherKeys alone
//	CSI > m        XTMODKEYS        changes  \e[>4;2m            modifyOtherKeys alone
//	CSI > n        XTMODKEYS        changes  \e[>4;1m | \e[>4n
//	CSI > q        XTVERSION        answers  \e[>q
//	CSI > u                         changes  \e[>3u              kitty keyboard: push
//	CSI = c        DA3              answers  \e[=c
//	CSI = u                         changes  \e[=2;1u            kitty keyboard: set, add, take away
//	CSI = w                         changes  \e[=4;1w            a row goes on; 2: a wrap is pending
//	CSI < u                         changes  \e[<u               kitty keyboard: pop
//	CSI SP @       SL               changes  \e[2 @
//	CSI SP A       SR               changes  \e[2 A
//	CSI SP q       DECSCUSR         changes  \e[5 q
//	CSI ! p        DECSTR           changes  \e[!p
//	CSI " p        DECSCL           changes  \e[4h | \e[61"p      a soft reset; the level stays VT420
//	CSI " q        DECSCA           changes  \e[1"q
//	CSI " v        DECRQDE          answers  \e["v
//	CSI # P        XTPUSHCOLORS     changes  \e[#P
//	CSI # Q        XTPOPCOLORS      changes  \e[#Q
//	CSI # R        XTREPORTCOLORS   answers  \e[#R
//	CSI # {, p     XTPUSHSGR        changes  \e[#{}               all, or what the parameters name
//	CSI # }, q     XTPOPSGR         changes  \e[#{}
//	CSI # |        XTREPORTSGR      answers  \e[1;1;2;2#|
//	CSI $ p        DECRQM           answers  \e[4$p
//	CSI ? $ p      DECRQM           answers  \e[?1$p
//	CSI $ r        DECCARA          changes  \e[1;1;2;9;4$r
//	CSI $ t        DECRARA          changes  \e[1;1;2;9;7$t
//	CSI $ v        DECCRA           changes  \e[1;1;2;5;1;3;4$v
//	CSI $ w        DECRQPSR         answers  \e[1$w              1 cursor, 2 tab stops
//	CSI $ x        DECFRA           changes  \e[37;1;1;3;3$x
//	CSI $ z        DECERA           changes  \e[1;1;3;3$z
//	CSI $ {        DECSERA          changes  \e[1;1;3;3${
//	CSI ' |        DECRQLP          answers  \e['|               there is no locator
//	CSI ' }        DECIC            changes  \e[2'}
//	CSI ' ~        DECDC            changes  \e[2'~
//	CSI * x        DECSACE          changes  \e[2*x
//	CSI i          MC               nothing  \e[5i               there is no printer
//	CSI q          DECLL            nothing  \e[1q
//	CSI > T, t     XTSMTITLE        nothing  \e[>1{}
//	CSI > p        XTSMPOINTER      nothing  \e[>1p
//	CSI $ |        DECSCPP          nothing  \e[132$|
//	CSI * |        DECSNLS          nothing  \e[24*|
//	CSI * y        DECRQCRA         nothing  \e[1;1;1;1;2;2*y
//	CSI $ }, ~     DECSASD DECSSDT  nothing  \e[1${}
//	CSI ' w, z, {  DECEFR ...       nothing  \e[1'{}
//
// Modes of SM and RM, and with ? of DECSET and DECRST; DECRQM tells all:
//
//	MODE 2                  KAM                  changes          \e[2h             reported, the keyboard is the user's
//	MODE 4                  IRM                  changes          \e[4h
//	MODE 12                 SRM                  answers          \e[12$p           always set
//	MODE 20                 LNM                  changes          \e[20h
//	MODE 1, 5, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19  GATM ...             answers          \e[{}$p           always reset
//	MODE ?1                 DECCKM               changes          \e[?1h
//	MODE ?2, ?95            DECANM DECNCSM       answers          \e[{}$p           always reset
//	MODE ?3                 DECCOLM              changes          \e[?40h | \e[?3h  clears; the size stays
//	MODE ?4, ?18, ?19       DECSCLM DECPFF DECPEX  changes          \e[{}h            kept, without an effect
//	MODE ?5                 DECSCNM              changes          \e[?5h
//	MODE ?6                 DECOM                changes          \e[?6h
//	MODE ?7                 DECAWM               changes          \e[?7l
//	MODE ?8                 DECARM               changes          \e[?8l            kept, without an effect
//	MODE ?9, ?1000, ?1002, ?1003  mouse                changes          \e[{}h
//	MODE ?12                blink                changes          \e[?12h
//	MODE ?25                DECTCEM              changes          \e[?25l
//	MODE ?40                                     changes          \e[?40h           allows DECCOLM
//	MODE ?41                                     changes          \e[?41h           a tab carries out a pending wrap
//	MODE ?42                DECNRCM              changes          \e[?42h
//	MODE ?45                reverse wrap         changes          \e[?45h
//	MODE ?47, ?1047, ?1049  alternate screen     changes          \e[{}h
//	MODE ?1048              DECSC/DECRC          changes          \e[?1048h
//	MODE ?66                DECNKM               changes          \e[?66h
//	MODE ?67                DECBKM               changes          \e[?67h
//	MODE ?69                DECLRMM              changes          \e[?69h
//	MODE ?1004              focus                changes          \e[?1004h
//	MODE ?1005, ?1006, ?1015, ?1016  mouse encodings      changes          \e[{}h
//	MODE ?1007              alternate scroll     changes          \e[?1007l
//	MODE ?2004              bracketed paste      changes          \e[?2004h
//	MODE ?2026              synchronized output  changes          \e[?2026h         ends with a resize or [Terminal.EndSync]
//	MODE ?2027              grapheme clusters    changes          \e[?2027l
//	MODE ?2048              size reports         changes,answers  \e[?2048h
//
// Reports:
//
//	DSR 5                status         answers        \e[5n
//	DSR 6                CPR            answers        \e[6n
//	DSR ?6               DECXCPR        answers        \e[?6n
//	DSR ?15, ?25, ?26, ?53, ?55, ?56, ?62, ?63, ?75, ?85  printer ...    answers        \e[{}n
//	DSR ?996             dark or light  answers        \e[?996n
//	XTWINOPS 11, 18, 19  state, size    answers        \e[{}t
//	XTWINOPS 22          push title     changes        \e[22t
//	XTWINOPS 23          pop title      changes,event  \e[23t
//	XTWINOPS 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 16, 20, 21, 24  window ...     nothing        \e[{};1;1t
//	DECRQSS m, r, s, t, $|, *|, *x, SPq, "q, "p, $}, $~  settings       answers        \eP$q{}\e\\
//
// Renditions:
//
//	SGR 0           none              changes  \e[0m
//	SGR 1, 2, 3, 5, 6, 7, 8, 9, 53  on                changes  \e[m | \e[{}m
//	SGR 4           underline         changes  \e[4:3m          4:0 to 4:5
//	SGR 21          double underline  changes  \e[21m
//	SGR 22, 23, 24, 25, 27, 28, 29, 55  off               changes  \e[1;3;4;5;7;8;9;53m | \e[{}m
//	SGR 30-37, 40-47, 90-97, 100-107  colours           changes  \e[m | \e[{}m
//	SGR 38, 48, 58  colours           changes  \e[{}:2::1:2:3m  also ;2;r;g;b and ;5;n
//	SGR 39, 49, 59  default colours   changes  \e[35;45;58;5;5m | \e[{}m
//
// Operating system commands, ended by BEL or ST:
//
//	OSC 0, 2        title             changes,event  \e]{};x\a
//	OSC 4           palette           changes        \e]4;9;#123\a
//	OSC 4           palette           answers        \e]4;9;?\a
//	OSC 5           colours of renditions  changes        \e]5;1;red\a
//	OSC 7           directory         event          \e]7;file:///x\a
//	OSC 8           link              changes        \e]8;id=1;http://x\a
//	OSC 9           notification, progress, directory  event          \e]9;x\a
//	OSC 10, 11, 12, 13, 14, 17, 19  dynamic colours   changes        \e]{};#123\a
//	OSC 10, 11, 12, 13, 14, 17, 19  dynamic colours   answers        \e]{};?\a
//	OSC 15, 16, 18  Tektronix window  nothing        \e]{};#123\a
//	OSC 52          clipboard write   event          \e]52;c;eA==\a
//	OSC 99, 777     notification      event          \e]{};notify;x\a
//	OSC 104         palette           changes        \e]104\a
//	OSC 105         colours of renditions  changes        \e]105\a
//	OSC 110, 111, 112, 113, 114, 117, 119  dynamic colours   changes        \e]{}\a
//	OSC 133         prompt mark       changes,event  \e]133;A\a
//	OSC 1337        directory         event          \e]1337;CurrentDir=/x\a
//	OSC 7501        program status    event          \e]7501;state=idle\a
//	OSC 7501        program status    answers        \e]7501;?\a
//	OSC 1, 3, 6, 21, 22, 46, 50, 51, 66, 106, 633  icon name ...     nothing        \e]{};x\a
//
// Device control strings:
//
//	DCS $ q  DECRQSS    answers  \eP$qm\e\\
//	DCS $ t  DECRSPS    changes  \eP2$t3/5\e\\
//	DCS + q  XTGETTCAP  answers  \eP+q544e\e\\
//	DCS q    sixel      nothing  \ePq#0~~\e\\
//	DCS |    DECUDK     nothing  \eP1;1|17/17\e\\
//	DCS {    DECDLD     nothing  \eP1;1;1{ @AA\e\\
package vt
