//go:build !linux

package main

// releaseCode does nothing: only Linux says which pages may be given back.
func releaseCode() {}
