//go:build !race

package archtest

const raceDetector = false
