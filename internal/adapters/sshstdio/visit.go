package sshstdio

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
)

// A visit is one ssh, so that a person is asked once: it says what machine it is on and which vev it finds, then reads
// the size of a program, or the end, and then the program. That goes to a file beside its place, must be whole, must run, and
// is moved to its place: who runs the one that was there goes on with it.

const (
	surveyEnds   = "vev-survey ends here"
	installCut   = "vev-install cut"
	installNoRun = "vev-install does not run"
	installDone  = "vev-install done"

	// maxSurveyLine and maxSurveyLines bound what a visit is told.
	maxSurveyLine  = 4 << 10
	maxSurveyLines = 8

	// maxProgramBytes bounds a program that is copied.
	maxProgramBytes = 256 << 20
	// reports is how often it is told how much of a program was copied.
	reports = 20
)

// surveyCommand is written as remoteCommand is.
const surveyCommand = `exec sh -c '` +
	findProgram + `; echo; echo "` + begins + `"; cd || exit 1; uname -s; uname -m; echo "$v"; ` +
	`if [ -n "$v" ]; then "$v" version --json </dev/null | tr -d "[:cntrl:]"; fi; echo; echo "` + surveyEnds + `"; ` +
	`read -r n || exit 0; mkdir -p ` + installDir + ` && cd ` + installDir + ` || exit 1; ` +
	`t=.vev-new.$$; trap "rm -f $t" 0; trap "exit 1" 1 2 13 15; ` +
	`cat >$t && [ $(wc -c <$t) -eq $n ] || { echo "` + installCut + `"; exit 1; }; ` +
	`chmod 755 $t && o=$(./$t version --json </dev/null) || { echo "` + installNoRun + `"; exit 1; }; ` +
	`if [ -d vev ]; then echo "vev is a directory" >&2; exit 1; fi; ` +
	`mv -f $t vev && echo "` + installDone + `" && echo "$PWD/vev" && echo "$o" | tr -d "[:cntrl:]"; echo'`

// Visit implements ports.HostVisitor. It returns when ssh has ended.
func (d *Dialer) Visit(ctx context.Context, host domain.Host, ask ports.Ask, install *ports.Installation) (ports.Survey, *ports.RemoteVev, error) {
	ctx, a, done := d.attempt(ctx, host, ask, surveyCommand)
	defer done()
	c, err := start(a)
	if err != nil {
		return ports.Survey{}, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	v := &visit{carriage: c, in: bufio.NewReaderSize(c, maxSurveyLine)}
	survey, err := v.survey()
	if err != nil {
		return survey, nil, c.failed(ctx, host, err)
	}
	var installed *ports.RemoteVev
	wanted := false
	if install != nil {
		wanted, err = install.Wanted(survey)
	}
	if wanted && err == nil {
		installed, err = v.install(ctx, survey, install)
	}
	_ = c.Close()
	<-c.exited
	if cause := context.Cause(ctx); err != nil && cause != nil && fault.KindOf(err) != fault.Unknown {
		err = fault.Wrap(fault.Canceled, cause, "the visit was given up")
	}
	return survey, installed, err
}

// visit is an ssh that runs surveyCommand.
type visit struct {
	*carriage
	in *bufio.Reader
}

// line is the next one, without its end.
func (v *visit) line() (string, error) {
	line, err := v.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", fault.New(fault.Violation, "a line of the survey has more than %d bytes", maxSurveyLine)
	case err != nil:
		if _, ok := errors.AsType[*fault.Error](err); ok {
			return "", err
		}
		return "", fault.Wrap(fault.Unavailable, err, "ssh ended")
	}
	return strings.TrimSpace(string(line)), nil
}

// survey reads what is said about the machine.
func (v *visit) survey() (s ports.Survey, err error) {
	var lines []string
	for len(lines) < maxSurveyLines {
		line, err := v.line()
		if err != nil {
			return s, err
		}
		if line == surveyEnds {
			break
		}
		lines = append(lines, line)
	}
	if len(lines) != 4 {
		return s, fault.New(fault.Violation, "the survey has %d lines, must have 4", len(lines))
	}
	s.System, s.Machine = fault.Clean(lines[0]), fault.Clean(lines[1])
	if lines[2] != "" {
		s.Program = program(lines[2], lines[3])
	}
	return s, nil
}

// program is what a vev says of itself, which may be nothing.
func program(path, said string) *ports.RemoteVev {
	var j struct {
		Version  string
		Protocol struct{ Min, Max uint32 }
	}
	p := &ports.RemoteVev{Path: fault.Clean(path)}
	if json.Unmarshal([]byte(said), &j) == nil {
		p.Version, p.MinVersion, p.MaxVersion = fault.Clean(j.Version), j.Protocol.Min, j.Protocol.Max
	}
	return p
}

// install copies a program and returns what is in place then.
func (v *visit) install(ctx context.Context, s ports.Survey, install *ports.Installation) (*ports.RemoteVev, error) {
	f, size, err := programFor(install.Program, s)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	copied := counted{size: size, tell: install.Copied}
	_, err = fmt.Fprintf(v.carriage, "%d\n", size)
	if err == nil {
		_, err = io.Copy(io.MultiWriter(v.carriage, &copied), io.LimitReader(f, size))
	}
	sent := err == nil && copied.done == size
	_ = v.carriage.in.Close() // the end of the program
	first, err := v.line()
	switch {
	case err == nil && first == installDone:
		return v.installed()
	case err == nil && first == installNoRun:
		return nil, fault.New(fault.Unsupported, "%s does not run there%s", f.Name(), v.reason()).
			WithHint("it must be built without cgo, and what is in ~/%s must be allowed to run", installDir)
	case err == nil:
		return nil, fault.New(fault.Unavailable, "the copy is not whole%s", v.reason()).WithHint("check the free space there")
	case sent && context.Cause(ctx) == nil:
		<-v.exited
		if v.cmd.ProcessState.ExitCode() != sshFailed {
			return nil, fault.New(fault.Unavailable, "it cannot be put in place%s", v.reason()).WithHint("check ~/%s there", installDir)
		}
	case !sent:
		return nil, fault.New(fault.Unavailable, "the connection ended while the program was copied%s", v.reason())
	}
	return nil, fault.New(fault.Unknown, "the connection ended before the program was in place").WithHint("vev host check says which vev is there")
}

// installed reads what is in place.
func (v *visit) installed() (*ports.RemoteVev, error) {
	path, err := v.line()
	if err != nil {
		return &ports.RemoteVev{Path: "~/" + installPath}, nil // it is there
	}
	said, _ := v.line()
	return program(path, said), nil
}

// reason is what was said on standard error, as the end of a sentence. ssh has ended when it returns, unless it does not
// end by itself.
func (v *visit) reason() string {
	_ = v.carriage.Close()
	<-v.exited
	if last := lastSaid(v.said.kept); last != "" {
		return ": " + last
	}
	return ""
}

// counted tells how much went by.
type counted struct {
	done, size, told int64
	tell             func(done, total int64)
}

func (c *counted) Write(p []byte) (int, error) {
	c.done += int64(len(p))
	if at := c.done * reports / max(c.size, 1); c.tell != nil && at != c.told {
		c.told = at
		c.tell(c.done, c.size)
	}
	return len(p), nil
}
