//go:build race

package main

// The processes under test look for races as the tests themselves do.
var buildFlags = []string{"-race"}
