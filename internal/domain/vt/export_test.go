package vt

import "testing"

// Inputs are what the bug cases and the examples of the table of sequences feed, for tests from outside.
func Inputs(tb testing.TB) []string {
	var in []string
	for _, c := range bugCases {
		in = append(in, c.in)
	}
	for _, s := range sequenceTable(tb) {
		in = append(in, ground+s.setup+s.example)
	}
	return in
}
