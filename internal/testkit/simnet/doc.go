// Package simnet is a carriage for tests: a pipe that buffers as much as a socket would, or as
// little as a test wants, and that can stall or be cut at a chosen byte. It uses no real
// file, so testing/synctest's clock sees everything that waits on it.
package simnet
