// Package ports holds the interfaces the services need from the outside, named for what
// the core wants. Here "port" always means such an interface, never an inbound handler.
//
// Each comment is the contract: who may call, what unblocks it, who closes. porttest holds
// the suite that each implementation must pass.
package ports
