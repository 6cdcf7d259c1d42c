// Package client drives vev's sessions from Go programs: terminals that keep running on this and other
// machines, whoever is attached to them.
//
// A Client finds the user's broker, or starts it, and asks the daemons of the machines that it leads to. It
// owns nothing that lasts: each call is a conversation of its own, which ends with the call. Calls may be made
// from any goroutine, at the same time. A call ends with its context; what it had asked for may have happened
// by then.
//
//	c := client.New(client.Options{})
//	s, err := c.Create(ctx, client.Create{Name: "build", Command: []string{"make", "test"}})
//	...
//	answer, err := s.Wait(ctx, client.Condition{Exit: true})
//
// A session is named as on the command line: NAME on this machine, HOST:NAME on another, where HOST is
// what the user's ssh reaches; instead of its name its id may stand, which stays when it is renamed. The command line is built on
// this package, and answers with the same JSON as the types here have.
//
// Errors are of type *Error, with a Kind that says who can do something about it. What a program printed is
// data: titles and screens hold nothing that a terminal would obey.
//
// Nothing here types by itself into sessions that a person works in: see Session.Wait for how to know what
// a program is doing before giving it keys.
package client
