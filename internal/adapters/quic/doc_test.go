package quic

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/testkit/doctable"
)

const protocolDoc = "../../../docs/protocol.md"

func TestTheDocumentHasTheLimits(t *testing.T) {
	want := map[string]string{}
	for name, n := range map[string]int{
		"MaxReadyBytes": MaxReadyBytes, "maxAuthBytes": maxAuthBytes, "maxHeadBytes": maxHeadBytes, "maxTokens": maxTokens,
		"maxUnknown": maxUnknown, "maxHandshakes": maxHandshakes, "unknownWindow": unknownWindow, "maxLeases": maxLeases,
		"maxPerLease": maxPerLease, "maxRepeatBytes": maxRepeatBytes, "maxHeld": maxHeld,
	} {
		want[name] = strconv.Itoa(n)
	}
	for name, d := range map[string]time.Duration{
		"tokenLifetime": tokenLifetime, "authTimeout": authTimeout, "leaseTime": leaseTime, "idleTimeout": idleTimeout, "keepAlive": keepAlive,
	} {
		want[name] = d.String()
	}
	got := map[string]string{}
	for _, row := range doctable.Rows(t, protocolDoc, "quic limits") {
		got[row[0]] = row[1]
	}
	require.Equal(t, want, got)
}

func TestTheDocumentHasTheEnds(t *testing.T) {
	var codes []string
	for _, row := range doctable.Rows(t, protocolDoc, "quic ends") {
		codes = append(codes, row[0])
	}
	require.Equal(t, []string{"0", "1", "2", "3", "4", "5"}, codes)
	require.Equal(t, []int{0, 1, 2, 3, 4, 5}, []int{codeDone, codeRefused, codeReplaced, codeLimit, codeEnding, codeBroken})
}
