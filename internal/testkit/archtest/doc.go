// Package archtest holds the project to its own map: who may import whom and why, what the
// domain must not touch, that every package says what it is for, that the documents name what
// exists, and that the tests run as the targets say they do. Everything in it is a test; its
// few helpers read the checkout's sources whatever the build tags say.
package archtest
