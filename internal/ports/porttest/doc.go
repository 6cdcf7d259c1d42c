// Package porttest holds the suites that every implementation of a port must pass, the real
// one and any twin made for tests. A suite knows only the port's comments; what it needs to
// set a scene comes in as a value from the caller.
package porttest
