package daemon

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	markPrompt = "\x1b]133;A\a$ \x1b]133;B\a"
	markStart  = "\x1b]133;C\a"
)

// bash holds the terminal, waiting at its prompt.
var bash = ports.TerminalUse{Pid: 4711, Argv: []string{"bash"}, Told: true, Reads: true}

// shellWorld is a session whose shell has run a command already, so that it is known to mark them.
func (w *world) shell(marks bool) *program {
	p := w.create("work")
	p.foreground(bash)
	if marks {
		p.print(markPrompt + "ls\r\n" + markStart + "\x1b]133;D;0\a" + markPrompt)
	} else {
		p.print("$ ")
	}
	synctest.Wait()
	return p
}

func (w *world) begin(command string) *protocol.RunStarted {
	w.t.Helper()
	r := w.ask(0, &protocol.RunCommand{Session: "work", Command: command, Author: "t"})
	require.Nil(w.t, r.Failure, "%+v", r.Failure)
	return r.Body.(*protocol.RunStarted)
}

func (w *world) output(run, offset uint64) *protocol.RunOutput {
	w.t.Helper()
	r := w.ask(time.Second, &protocol.ReadRun{Session: "work", Run: run, Offset: offset})
	require.Nil(w.t, r.Failure, "%+v", r.Failure)
	return r.Body.(*protocol.RunOutput)
}

func (w *world) refused(kind fault.Kind, text string, body protocol.RequestBody) {
	w.t.Helper()
	r := w.ask(0, body)
	require.NotNil(w.t, r.Failure, "%T", body)
	require.Equal(w.t, kind, r.Failure.Kind, r.Failure.Text)
	require.Contains(w.t, r.Failure.Text, text)
}

func TestARunIsReadPieceByPiece(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.shell(true)
		started := w.begin("make test")
		require.Equal(t, "make test\r", p.typed())
		p.print("make test\r\n" + markStart + "one\r\n")
		first := w.output(started.Run, 0)
		require.Equal(t, "one\r\n", string(first.Data))
		require.False(t, first.Ended)
		require.Equal(t, first, w.output(started.Run, 0), "a lost answer is asked for again")
		p.print("two")
		synctest.Wait()
		require.Equal(t, protocol.RunOutput{Offset: 5, Data: []byte("two")}, *w.output(started.Run, 5))
		time.Sleep(time.Minute)
		p.print("\x1b]133;D;3\a" + markPrompt)
		last := w.output(started.Run, 8)
		require.Equal(t, protocol.RunOutput{Offset: 8, Ended: true, HasStatus: true, Status: 3, Took: time.Minute}, *last)
		w.refused(fault.Usage, "there are 8", &protocol.ReadRun{Session: "work", Run: started.Run, Offset: 9})
		require.Greater(t, w.begin("ls").Run, started.Run)
		w.refused(fault.NotFound, "kept no longer", &protocol.ReadRun{Session: "work", Run: started.Run})
	})
}

func TestARunInAShellThatDoesNotMark(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.shell(false)
		started := w.begin("sleep 1000")
		id := regexp.MustCompile("C;vev=([0-9a-f]+)").FindStringSubmatch(p.typed())[1]
		busy := bash
		busy.Reads = false
		p.foreground(busy)
		p.print("\x1b]133;C;vev=" + id + "\aout")
		require.Equal(t, "out", string(w.output(started.Run, 0).Data))
		w.ask(0, &protocol.Keys{Session: "work", Names: []string{"C-c"}})
		p.print("^C\r\n$ ")
		require.Equal(t, "^C\r\n$ ", string(w.output(started.Run, 3).Data))
		p.foreground(bash)
		last := w.output(started.Run, 9)
		require.True(t, last.Ended)
		require.Equal(t, interruptedStatus, last.Status, "the shell is back at its prompt: the line was given up")
	})
}

func TestARunEndsWithItsShell(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.shell(true)
		started := w.begin("exit 5")
		p.print(markStart + "exit\r\n")
		p.end(domain.ExitStatus{Code: 5})
		synctest.Wait()
		out := w.output(started.Run, 0)
		require.Equal(t, protocol.RunOutput{Data: []byte("exit\r\n"), Ended: true, Exited: true, HasStatus: true, Status: 5}, *out)
	})
}

func TestOutputThatNobodyReadsIsBounded(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.shell(true)
		started := w.begin("flood")
		p.print(markStart)
		chunk := strings.Repeat("x", 1<<20)
		for range 20 {
			p.print(chunk)
			synctest.Wait()
		}
		out := w.output(started.Run, 0)
		require.Positive(t, out.Offset, "the oldest was dropped, and that is said")
		require.Len(t, out.Data, protocol.MaxRunBytes)
		require.LessOrEqual(t, w.d.runBytes.Load(), int64(maxRunOutput))
		w.ask(0, &protocol.Kill{Session: "work"})
		require.Zero(t, w.d.runBytes.Load())
	})
}

func TestNothingIsTypedWhereNoPromptIs(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.shell(true)
		run := &protocol.RunCommand{Session: "work", Command: "ls"}
		w.ask(0, &protocol.Type{Session: "work", Data: []byte("ec")})
		w.refused(fault.Conflict, "somebody has typed", run)
		w.refused(fault.Conflict, "somebody has typed", &protocol.Guarded{AtPrompt: true, Type: &protocol.Type{Session: "work", Data: []byte("x")}})
		w.ask(0, &protocol.Keys{Session: "work", Names: []string{"C-c"}})
		p.print("^C\r\n" + markPrompt)
		w.begin("true")
		p.print(markStart)
		synctest.Wait()
		p.foreground(ports.TerminalUse{Pid: 5000, Argv: []string{"/usr/bin/vim", "x"}, Told: true, Reads: true})
		w.refused(fault.Conflict, "vim runs", run)
		p.foreground(ports.TerminalUse{Pid: 4711, Argv: []string{"bash"}, Told: true, Canonical: true})
		before := time.Now()
		w.refused(fault.Conflict, "bash is busy", run)
		require.Equal(t, promptGrace, time.Since(before), "it might have been about to prompt")
		require.Equal(t, "ec\x03true\r", p.typed())
	})
}

// A shell may lose a Ctrl-C: where it marks its prompts, only a new one shows that the line is empty.
func TestALineIsNotTakenForEmptyBeforeItsShellSaysSo(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.shell(true)
		run := &protocol.RunCommand{Session: "work", Command: "ls"}
		w.ask(0, &protocol.Type{Session: "work", Data: []byte("ec")})
		for range 2 {
			w.ask(0, &protocol.Keys{Session: "work", Names: []string{"C-c"}})
			w.refused(fault.Conflict, "somebody has typed", run)
			require.Equal(t, "prompt", w.await(time.Minute, protocol.Await{Prompt: true}).Body.(*protocol.Awaited).Met)
		}
		p.print("^C\r\n" + markPrompt)
		synctest.Wait()
		w.begin("true")
		require.Equal(t, "ec\x03\x03true\r", p.typed())
	})

	inWorld(t, func(w *world) {
		p := w.shell(true)
		w.ask(0, &protocol.Keys{Session: "work", Names: []string{"C-c"}})
		w.begin("true")
		require.Equal(t, "\x03true\r", p.typed(), "there was nothing on the line, and a shell need not draw its prompt anew")
	})

	inWorld(t, func(w *world) {
		p := w.shell(false)
		w.ask(0, &protocol.Type{Session: "work", Data: []byte("ec")})
		w.ask(0, &protocol.Keys{Session: "work", Names: []string{"C-c"}})
		w.begin("true")
		require.True(t, strings.HasPrefix(p.typed(), "ec\x03 "), "a shell that does not mark is believed")
	})
}

// What is typed between a command's end and the prompt is in the line that the prompt begins.
func TestWhatIsTypedBeforeThePromptIsInItsLine(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.shell(true)
		w.begin("less x")
		p.print(markStart)
		synctest.Wait()
		w.ask(0, &protocol.Type{Session: "work", Data: []byte("q")})
		p.print("\x1b]133;D;0\a")
		synctest.Wait()
		w.ask(0, &protocol.Type{Session: "work", Data: []byte("ec")})
		p.print(markPrompt)
		synctest.Wait()
		w.refused(fault.Conflict, "somebody has typed", &protocol.RunCommand{Session: "work", Command: "ls"})
		w.ask(0, &protocol.Keys{Session: "work", Names: []string{"Enter"}})
		p.print(markStart + "\x1b]133;D;0\a" + markPrompt)
		synctest.Wait()
		w.begin("ls")
	})
}

func TestGuardsHoldForAllOrNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.shell(true)
		generation := w.begin("true").Generation
		p.print(markStart + "\x1b]133;D;0\a" + markPrompt)
		synctest.Wait()
		guarded := func(g uint64) *protocol.Guarded {
			return &protocol.Guarded{Generation: g, Keys: &protocol.Keys{Session: "work", Names: []string{"a", "b"}}}
		}
		w.refused(fault.Conflict, "generation", guarded(generation))
		require.Nil(t, w.ask(0, guarded(generation+2)).Failure, "the command began and ended")
		p.foreground(ports.TerminalUse{Pid: 5000, Argv: []string{"vim"}, Told: true, Reads: true})
		w.refused(fault.Conflict, "generation", guarded(generation+2))
		require.Nil(t, w.ask(0, &protocol.Lock{Session: "work", Locked: true}).Failure)
		for _, body := range []protocol.RequestBody{
			&protocol.Type{Session: "work", Data: []byte("x")}, &protocol.Keys{Session: "work", Names: []string{"x"}},
			&protocol.Paste{Session: "work", Data: []byte("x"), Begin: true, End: true}, guarded(0),
			&protocol.RunCommand{Session: "work", Command: "ls"},
		} {
			w.refused(fault.Denied, "locked", body)
		}
		v := w.attach(protocol.Attach{Session: "work"})
		v.typeIn("person")
		synctest.Wait()
		require.True(t, strings.HasSuffix(p.typed(), "abperson"), "who is attached may type: %q", p.typed())
		require.Nil(t, w.ask(0, &protocol.Lock{Session: "work"}).Failure)
		require.Nil(t, w.ask(0, &protocol.Type{Session: "work", Data: []byte("x")}).Failure)
	})
}
