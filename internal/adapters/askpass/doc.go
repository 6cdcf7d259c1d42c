// Package askpass brings the questions of ssh (passwords, passphrases, host keys, second factors) to who can answer them.
// ssh runs a program for each question; that program, vev under another name, connects to the broker and hands the
// question to its Desk, which puts it to the ports.Ask that the dial was given. It keeps no answer, writes none down, and
// decides none. Who may connect is admitted by whoever accepts for it.
//
// On a connection the helper says the id of its dial, 32 hexadecimal digits, then the question, and ends its side; the
// desk says "+" and the answer, or "-", and ends. The id tells dials apart; it is no secret, since all who may connect
// are the same user.
//
// It starts no goroutine.
package askpass
