// Package pty runs programs on pseudo-terminals: ports.Programs and ports.Program.
//
// It owns the terminal's master side, the program's start, its signals and its reaping. It
// never looks at the bytes: what they mean is the business of domain/vt.
//
// Output goes kernel -> Program.Read -> the caller's buffer, input the other way; nothing is
// kept in between. The master is opened non-blocking by this package itself, so Close ends a
// waiting Read or Write, and every ioctl goes through SyscallConn: os.File.Fd would put the
// master in blocking mode for good.
//
// One goroutine per program reaps it, from Start until the program's end; Wait and Kill join
// it. It waits in the runtime's poller where the system has process descriptors, otherwise in
// a thread.
package pty
