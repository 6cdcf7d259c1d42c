package archtest

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// A target's name is no evidence: those that promise the race detector set VEV_EXPECT_RACE, and
// it must be there then.
func TestTheRaceDetectorRunsWhereItIsPromised(t *testing.T) {
	if os.Getenv("VEV_EXPECT_RACE") == "1" {
		require.True(t, raceDetector, "VEV_EXPECT_RACE is set and the tests were built without -race")
	}
	makefile := read(t, "Makefile")
	for _, target := range []string{"test", "race"} {
		recipe := regexp.MustCompile(`(?m)^` + target + `:.*\n(\t.*\n)+`).FindString(makefile)
		require.Contains(t, recipe, "VEV_EXPECT_RACE=1", "make %s", target)
	}
}
