package main

import (
	"context"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

func testHome(t *testing.T) *rundir.Dir {
	t.Helper()
	t.Setenv("VEV_HOME", t.TempDir())
	dir, err := rundir.Open()
	require.NoError(t, err)
	return dir
}

// A broker takes what it was asked with its start, and is one for others as well.
func TestABrokerBeginsWithWhatItWasStartedFor(t *testing.T) {
	dir := testHome(t)
	begin, err := brokeripc.BeginHere("test", false, &protocol.Opening{Host: protocol.LocalHost, Start: protocol.ExistingOnly, First: []byte("x")})
	require.NoError(t, err)
	service := rundir.Service{Name: talk.BrokerService, Program: binary}
	conn, said, err := dir.DialOrStartSaying(t.Context(), service, begin.Bytes())
	require.NoError(t, err)
	require.True(t, said)
	client, err := begin.DialSaid(t.Context(), conn)
	require.NoError(t, err)
	_, err = client.OpenStream(t.Context(), protocol.LocalHost, protocol.ExistingOnly, []byte("x"))
	require.Equal(t, fault.NotFound, fault.KindOf(err), "no daemon runs: it is the stream that was asked for which is answered")

	conn, said, err = dir.DialOrStartSaying(t.Context(), service, begin.Bytes())
	require.NoError(t, err)
	require.False(t, said, "it runs")
	other, err := begin.Dial(t.Context(), conn)
	require.NoError(t, err)
	numbers, err := other.Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, numbers.Clients)
	require.NoError(t, other.Close())
	require.NoError(t, client.Close())
	require.NoError(t, syscall.Kill(numbers.Pid, syscall.SIGTERM))
	life, err := dir.Lock(t.Context(), talk.BrokerService)
	require.NoError(t, err)
	require.NoError(t, life.Unlock())
}

// Who comes to ask before the broker listens for that waits for it, and only as long as there is a broker.
func TestAQuestionWaitsForTheBroker(t *testing.T) {
	dir := testHome(t)
	_, err := dialWhile(t.Context(), dir, askpassService, talk.BrokerService)
	require.Equal(t, fault.Unavailable, fault.KindOf(err), "there is no broker")

	life, err := dir.TryLock(talk.BrokerService)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*talk.FirstPause)
	_, err = dialWhile(ctx, dir, askpassService, talk.BrokerService)
	require.Error(t, ctx.Err(), "it was waited for")
	cancel()
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	connected := make(chan error)
	go func() {
		conn, err := dialWhile(t.Context(), dir, askpassService, talk.BrokerService)
		if err == nil {
			err = conn.Close()
		}
		connected <- err
	}()
	claim, err := dir.Claim(t.Context(), askpassService)
	require.NoError(t, err)
	require.NoError(t, <-connected)
	require.NoError(t, claim.Close())
	require.NoError(t, life.Unlock())
}
