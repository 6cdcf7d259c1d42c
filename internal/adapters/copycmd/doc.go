// Package copycmd gives text to a command of the user's that puts it on a clipboard: ports.Copier.
//
// The command is started without a shell, with the text on its standard input and nothing else from here; what it says
// on its standard error becomes the fault when it fails. It is waited for, in the caller's goroutine; the package's own
// ones, which feed it, end with it.
package copycmd
