// Package audit keeps the log of what programs have typed into sessions: ports.Audit.
//
// It owns one file in the state directory and the one before it. An entry is a line of JSON: when, which session,
// who, what kind, how many bytes, and a hash of them, or the text where the user's configuration says so. It never
// reads the file. Whoever calls writes; there is no goroutine.
package audit
