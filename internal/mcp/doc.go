// Package mcp serves sessions to programs that speak the Model Context Protocol, over standard input and output.
//
// It owns the tools, their schemas and what they may touch: by default it writes only to sessions that it made,
// known by their ids, whatever they are called meanwhile. What it does goes through package client, as it does
// for every other caller. It never reads a terminal and keeps nothing but those ids.
//
// What programs print reaches the caller as data, bounded by the limits in limits.go.
//
// Goroutines: those of the protocol's SDK, which end with Run.
package mcp
