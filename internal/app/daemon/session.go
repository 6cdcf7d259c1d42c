package daemon

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	historyLines = 10_000
	historyBytes = 64 << 20

	// readBytes is one read of a program's output and one turn under the lock: the most a
	// key's way can wait for.
	readBytes = 64 << 10

	// answerBytes in one read are the most that is taken for the answer to a key.
	answerBytes = 2 << 10

	// drainTimeout bounds how long output is awaited after the program's end: a process that
	// left the session may hold the terminal open for ever.
	drainTimeout = 500 * time.Millisecond

	// stringTimeout is how long a program may be silent within a control string: one that was cut, as by
	// Ctrl-C, would swallow what others print.
	stringTimeout = 5 * time.Second

	killGrace = 3 * time.Second // from hang-up to kill
)

// mainPane is the only pane of a session.
const mainPane = 1

// session is one program, its terminal, and who looks at it.
type session struct {
	d       *Daemon
	id      domain.SessionID
	created time.Time
	order   uint64 // of creation; set before launch
	command []string
	program ports.Program
	input   *inputQueue
	ended   chan struct{} // closed when the output was drained and the status is known
	gone    chan struct{} // closed when the session left the registry

	// Set before launch.
	hasAgent     bool   // the session has a place for an agent
	creatorAgent string // what its creator had there

	agentTurn chan struct{} // cap 1: held while the place is pointed elsewhere
	agent     string        // where it leads; the turn's

	// Guarded by d.mu.
	name string

	// Guarded by mu; see the package comment for what may be held.
	mu          sync.Mutex
	term        *vt.Terminal
	size        domain.Size
	policy      domain.SizePolicy
	sizedAt     time.Time      // when the size was changed last
	settling    bool           // a change of the size waits
	claimed     []domain.Claim // memory of claims
	uses        uint64         // of clients
	lastUsed    time.Time
	lastOutput  time.Time
	outputs     uint64    // how often it has printed
	syncSince   time.Time // when mode 2026 was first seen on, or zero
	finished    bool
	killed      bool
	exit        domain.ExitStatus
	attachments []*attachment // oldest first
	watchers    map[chan struct{}]struct{}
	attended    bool // somebody has attached
	course      domain.Course
	foreground  int         // process group that held the terminal when somebody looked last; 0: not known
	generation  uint64      // grows when another program or command gets the terminal
	lineUsed    bool        // something was typed since the line at a prompt was empty
	lineBroken  bool        // Ctrl-C was typed on a line in use, which a shell may lose: only a prompt marked since shows that it did not
	commandAt   time.Time   // when the shell's command began; zero: none runs
	statusSeen  uint64      // of the newest program status that was told
	stirring    bool        // it has printed, and was not called idle since
	quiet       *time.Timer // tend's
	blocked     bool        // a program says that it waits for a person
	brokeAt     time.Time   // when Ctrl-C was typed, if no prompt was marked since
	locked      bool        // only attached clients may type
	endMarked   bool        // the shell marked a command's end, and no prompt since
	runs        uint64      // commands ever run by request
	run         *run        // the newest of them, or nil
	// marksCommands says that its shell marks the begin of commands, and not only prompts.
	marksCommands bool
	focused       bool // a client that may type has the focus
	removed       bool
}

// start runs the program of a new session; launch begins its goroutines.
func (d *Daemon) start(name string, c protocol.Create) (*session, error) {
	s := &session{
		d: d, created: time.Now(), name: name, size: c.Size, policy: c.Policy,
		ended: make(chan struct{}), gone: make(chan struct{}), watchers: map[chan struct{}]struct{}{},
		agentTurn: make(chan struct{}, 1),
	}
	random(s.id[:])
	if !s.size.Valid() {
		s.size = domain.DefaultSize
	}
	cmd := c.Command
	if c.OwnEnv {
		cmd.Env = over(d.ownEnvironment(), cmd.Env)
	}
	cmd.Env = s.environment(cmd.Env)
	s.creatorAgent = s.agentPlace(cmd.Env)
	s.hasAgent = s.creatorAgent != ""
	program, err := d.o.Programs.Start(cmd, s.size)
	if err != nil {
		return nil, err
	}
	s.program = program
	s.command = program.Command()
	s.lastUsed, s.lastOutput = s.created, s.created
	s.course.Began(s.created)
	s.stirring, s.quiet = true, time.NewTimer(stirLook)
	s.generation = 1
	s.term = vt.New(vt.Options{Cols: s.size.Cols, Rows: s.size.Rows, HistoryLines: cmp.Or(c.HistoryLines, historyLines), HistoryBytes: historyBytes})
	s.input = newInputQueue()
	return s, nil
}

// foreign variables describe the terminal of the client, or a multiplexer the session is not in.
var foreign = []string{
	"TERM", "COLORTERM", "VEV", "VEV_SESSION", "LINES", "COLUMNS", "TMUX", "TMUX_PANE", "STY", "WINDOW",
	"TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_SESSION_ID", "WINDOWID", "TERMCAP", "VTE_VERSION",
}

// passing variables belong to the login, or the command, that happened to start this process.
var passing = []string{
	"SSH_AUTH_SOCK", "SSH_CLIENT", "SSH_CONNECTION", "SSH_ORIGINAL_COMMAND", "SSH_TTY", "XDG_SESSION_ID", "OLDPWD", "SHLVL", "_",
}

// ownEnvironment is what of this process's environment lasts.
func (d *Daemon) ownEnvironment() []string {
	if d.o.Environment == nil {
		return nil
	}
	return slices.DeleteFunc(d.o.Environment(), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return slices.Contains(passing, key)
	})
}

// over is base with the entries of set in place of those with the same name.
func over(base, set []string) []string {
	for _, kv := range set {
		key, _, _ := strings.Cut(kv, "=")
		base = slices.DeleteFunc(base, func(old string) bool { return strings.HasPrefix(old, key+"=") })
	}
	return append(base, set...)
}

// environment is the client's, with what names our terminal in place of its own.
func (s *session) environment(client []string) []string {
	env := make([]string, 0, len(client)+4)
	for _, kv := range client {
		key, _, ok := strings.Cut(kv, "=")
		if ok && !slices.Contains(foreign, key) {
			env = append(env, kv)
		}
	}
	return append(env, "TERM=xterm-256color", "COLORTERM=truecolor", "VEV="+s.id.String(), "VEV_SESSION="+s.name)
}

// abandon ends a session that nobody got to know.
func (s *session) abandon() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.program.Kill(ctx)
	_ = s.program.Close()
}

// launch starts the goroutines of s; d.running joins them.
func (s *session) launch() {
	drained := make(chan struct{})
	s.d.running.Go(s.pointAgent)
	s.d.running.Go(func() { defer close(drained); s.readProgram() })
	s.d.running.Go(s.writeInput)
	s.d.running.Go(s.tend)
	s.d.running.Go(func() { s.reap(drained) })
}

// readProgram applies the program's output until its terminal has no writer left.
func (s *session) readProgram() {
	buf := make([]byte, readBytes)
	var fl flood
	for {
		n, err := s.program.Read(buf)
		if n > 0 {
			s.apply(buf[:n])
		}
		if n >= answerBytes {
			s.input.nudge()
		}
		fl.yield(&s.d.floor, s.id, n)
		if err != nil {
			return
		}
	}
}

// apply is the turn of one read: engine, answers, events, and whoever waits for them.
func (s *session) apply(output []byte) {
	now := time.Now()
	s.mu.Lock()
	if now.Sub(s.lastOutput) > stringTimeout {
		s.term.EndString()
	}
	_, _ = s.term.Write(output)
	s.lastOutput = now
	replies := s.term.TakeReplies()
	if len(replies) > 0 {
		s.input.reply(replies)
	}
	s.outputs++
	s.stir(now)
	s.fact(domain.FactOutput, "", now)
	for _, e := range s.term.TakeEvents() {
		s.record(e)
		s.noteEvent(&e, now)
	}
	s.run.take(output, now)
	asker, l := s.answering(len(output), now)
	for _, a := range s.attachments {
		if a != asker {
			a.poke()
		}
	}
	s.wakeWatchers()
	s.mu.Unlock()
	s.d.numbers.outputBytes.Add(uint64(len(output)))
	if asker != nil {
		asker.sendNow(l)
	}
}

// answering is the attachment whose key output may answer, and its link, or nil. The caller holds mu.
func (s *session) answering(output int, now time.Time) (*attachment, *link) {
	if output < answerBytes {
		for _, a := range s.attachments {
			if a.link != nil && now.Sub(a.writtenAt) < answerWindow {
				return a, a.link
			}
		}
	}
	return nil, nil
}

// changed wakes every sender and watcher. The caller holds mu.
func (s *session) changed() {
	for _, a := range s.attachments {
		a.poke()
	}
	s.wakeWatchers()
}

// wakeWatchers wakes those who wait for something to happen in the session. The caller holds mu.
func (s *session) wakeWatchers() {
	for w := range s.watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

// reap waits for the program's end, lets the rest of its output in, and ends the session.
func (s *session) reap(drained <-chan struct{}) {
	exit := s.program.Wait()
	timer := time.NewTimer(drainTimeout)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C:
	}
	_ = s.program.Close()
	<-drained
	s.input.close()
	s.finish(exit)

	keep := time.NewTimer(keepExited)
	defer keep.Stop()
	select {
	case <-s.gone:
	case <-keep.C:
		s.remove()
	}
}

// finish makes the end known: to attached clients through their senders, or, with none, to
// the list.
func (s *session) finish(exit domain.ExitStatus) {
	s.mu.Lock()
	s.finished, s.exit = true, exit
	now := time.Now()
	s.fact(domain.FactExited, exit.String(), now)
	s.tell(domain.Event{Type: domain.EventExited, HasStatus: true, Status: exit.ShellCode(), Text: exit.String()}, now)
	s.run.close(now)
	s.term.EndSync()
	s.term.EndStatuses()
	s.changed()
	s.d.rows.note(s.id)
	killed := s.killed
	s.mu.Unlock()
	close(s.ended)
	if killed && !s.anyLive() {
		s.remove()
	}
}

func (s *session) anyLive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.attachments, (*attachment).live)
}

// remove takes the session out of the registry; attachments that nobody came back for go
// with it. Live ones have their end sent by their senders.
func (s *session) remove() {
	s.mu.Lock()
	if s.removed {
		s.mu.Unlock()
		return
	}
	s.removed = true
	s.run.drop()
	tokens := make([]protocol.Token, 0, len(s.attachments))
	for _, a := range s.attachments {
		tokens = append(tokens, a.token)
	}
	s.mu.Unlock()
	s.d.forget(s, tokens)
	close(s.gone)
	s.pointAgent()
}

// kill ends the program and the session, and returns when both are gone from the list. The
// program has until ctx ends, at most killGrace, to go by itself.
func (s *session) kill(ctx context.Context) {
	s.mu.Lock()
	s.killed = true
	finished := s.finished
	s.mu.Unlock()
	if !finished {
		ctx, cancel := context.WithTimeout(ctx, killGrace)
		s.program.Kill(ctx)
		cancel()
		<-s.ended
	}
	s.remove()
}

// info is the session's row in the list; listed is false while its end is being told to
// attached clients.
func (s *session) info() (row domain.SessionInfo, listed bool) { return s.row(looked) }

// detail is what a row has beside what costs nothing.
type detail uint8

const (
	brief  detail = iota
	placed        // the directory
	looked        // and what the program does, for which it is looked at
)

// row is info with less.
func (s *session) row(with detail) (row domain.SessionInfo, listed bool) {
	if with == looked && !s.told() {
		s.look()
	}
	s.d.mu.Lock()
	name := s.name
	s.d.mu.Unlock()
	s.mu.Lock()
	row = domain.SessionInfo{
		ID: s.id, Name: name, Created: s.created, LastUsed: s.lastUsed, Pid: s.program.Pid(),
		Command: s.command, Title: clip(s.term.Title(), protocol.MaxTextBytes), Size: s.size, Policy: s.policy,
		Condition: s.course.Condition(), Generation: s.generation, Locked: s.locked,
	}
	for _, a := range s.attachments {
		if a.present() {
			row.Attached++
		}
	}
	finished := s.finished
	if finished {
		row.State, row.Exit, row.Pid = domain.Exited, s.exit, 0
	}
	s.mu.Unlock()
	if finished {
		return row, row.Attached == 0
	}
	if with != brief {
		row.Cwd = s.program.Cwd()
	}
	return row, true
}

// watch returns a channel that gets a token after each change, and its release.
func (s *session) watch() (changes <-chan struct{}, release func()) {
	w := make(chan struct{}, 1)
	s.mu.Lock()
	s.watchers[w] = struct{}{}
	s.mu.Unlock()
	return w, func() {
		s.mu.Lock()
		delete(s.watchers, w)
		s.mu.Unlock()
	}
}
