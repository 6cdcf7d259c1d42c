package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/vev-term/vev/internal/domain/fault"
)

// Exit codes of every command.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 3 // or the outcome is not known
	exitTimeout     = 4
)

// exitCode is the one place where a kind of failure becomes an exit code.
func exitCode(kind fault.Kind) int {
	switch kind {
	case fault.Usage:
		return exitUsage
	case fault.Unavailable, fault.Incompatible, fault.Unknown:
		return exitUnreachable
	case fault.Timeout:
		return exitTimeout
	case fault.Internal, fault.NotFound, fault.Conflict, fault.Denied, fault.Limit, fault.Violation,
		fault.Canceled, fault.Unsupported:
		return exitFailed
	}
	return exitFailed
}

// exitStatus ends the process with a code and says nothing: what there was to say was said.
type exitStatus int

func (s exitStatus) Error() string { return "exit status " + strconv.Itoa(int(s)) }

// report writes err as one line and its hint as another, and returns the exit code.
func report(w io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	if status, ok := errors.AsType[exitStatus](err); ok {
		return int(status)
	}
	fmt.Fprintf(w, "vev: %s\n", fault.Clean(err.Error()))
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Hint != "" {
		fmt.Fprintf(w, "hint: %s\n", fault.Clean(e.Hint))
	}
	return exitCode(fault.KindOf(err))
}
