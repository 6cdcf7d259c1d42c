// Package talk is the way of everybody who asks a daemon something: through the broker, which is
// started when there is a reason to, to the daemon of this or another machine.
//
// It owns dialling, trying again what is safe to try again, and conversations of one request after
// the other. It never touches a terminal, and knows no request but by whether it changes anything.
//
// Dialer walks rundir, broker.sock, the broker conversation, a stream and the session preamble, and
// gives a ports.SessionDialer. Talk asks over what a Dialer gives. Operations on the broker's hosts go by the same way.
//
// Goroutines: while a dial or an operation may ask a person something, one that puts the questions, joined when the
// stream is there or the operation over.
package talk
