// Package config reads the user's configuration file (docs/config.md).
//
// It owns the names of the settings, their defaults and what they may be, and says in one line, with file and line
// number, what is wrong in a file. It never writes one, never guesses what was meant, and starts nothing: a file is read
// when a command that depends on it begins.
package config
