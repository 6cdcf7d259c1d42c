// Package livevev gives the tests of a package a real vev with a home of its own. It is for TestMain; no process
// outlives it.
package livevev
