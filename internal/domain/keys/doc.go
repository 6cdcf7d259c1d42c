// Package keys turns names of keys ("Enter", "C-c", "M-x", "F5", "Up") into the bytes a
// terminal sends for them under the modes a program has set.
//
// The names are those of the command line, the bytes those of xterm's ctlseqs, sections
// "PC-Style Function Keys" and "VT220-Style Function Keys". Pure; any goroutine may call.
package keys
