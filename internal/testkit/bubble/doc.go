// Package bubble is how a test enters virtual time: testing/synctest, spared a fault of the
// race detector.
package bubble
