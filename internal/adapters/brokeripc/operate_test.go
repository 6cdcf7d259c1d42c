package brokeripc

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// operating gives both ends of a conversation whose broker takes operations.
func operating(t *testing.T) (*Client, *Server, <-chan ports.OperationRequest) {
	t.Helper()
	taken := make(chan ports.OperationRequest, protocol.MaxPendingOps)
	a, b := simnet.Pipe(1 << 16)
	accepted := make(chan *Server)
	go func() {
		broker := testBroker()
		broker.Operate = func(r ports.OperationRequest) { taken <- r }
		s, err := Accept(context.Background(), b, broker)
		if err != nil {
			t.Error(err)
		}
		accepted <- s
	}()
	c, err := dialOpening(context.Background(), a, true, nil)
	require.NoError(t, err)
	return c, <-accepted, taken
}

func TestAnOperationHasOneOutcome(t *testing.T) {
	for name, end := range map[string]struct {
		finish error
		kind   fault.Kind
		msg    string
	}{
		"ok":      {nil, 0, ""},
		"failed":  {fault.Wrap(fault.Conflict, errors.New("a secret"), "it is there").WithHint("look"), fault.Conflict, "it is there"},
		"unknown": {fault.New(fault.Unknown, "it may be there"), fault.Unknown, "it may be there"},
		"a bug":   {errors.New("no fault"), fault.Internal, "no fault"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				c, s, taken := operating(t)
				want := protocol.Mutation{Kind: protocol.AddHost, Host: "u@box", Alias: "box", Transport: 2, Start: protocol.ExistingOnly, Install: true, Program: "/vev"}
				go func() {
					r := <-taken
					want.Operation = r.Mutation().Operation
					require.NotZero(t, want.Operation)
					require.Equal(t, want, r.Mutation())
					require.NotNil(t, r.Ask())
					r.Progress(protocol.Progress{Step: protocol.StepTCP, Took: time.Millisecond, Failure: &protocol.Failure{Kind: fault.Timeout, Text: "late"}})
					r.Finish(end.finish)
					r.Finish(errors.New("once more")) // is nothing
					r.Progress(protocol.Progress{Text: "too late"})
				}()
				var told []protocol.Progress
				err := c.Operate(t.Context(), want, func(p protocol.Progress) { told = append(told, p) })
				require.Len(t, told, 1)
				require.Equal(t, want.Operation, told[0].Operation)
				require.Equal(t, time.Millisecond, told[0].Took)
				require.Equal(t, fault.Timeout, told[0].Failure.Kind)
				if end.finish == nil {
					require.NoError(t, err)
				} else {
					e, ok := errors.AsType[*fault.Error](err)
					require.True(t, ok)
					require.Equal(t, []any{end.kind, end.msg, true}, []any{e.Kind, e.Msg, e.Peer})
				}
				part(c, s)
			})
		})
	}
}

// How an operation ended that was not answered is not known, be it that the broker went or that nobody waited.
func TestAnOperationWithoutAnAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s, taken := operating(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Equal(t, fault.Unknown, fault.KindOf(c.Operate(ctx, protocol.Mutation{Host: "a"}, nil)))
		late := <-taken
		late.Finish(nil) // which is no offence
		go func() {
			r := <-taken
			select {
			case <-r.Gone():
				t.Error("the client is there")
			default:
			}
			_ = s.Close(protocol.Failure{Kind: fault.Unavailable, Text: "ending"})
			<-r.Gone()
			r.Progress(protocol.Progress{Text: "nobody hears"})
			r.Finish(nil)
		}()
		require.Equal(t, fault.Unknown, fault.KindOf(c.Operate(t.Context(), protocol.Mutation{Host: "a"}, nil)))
		require.Equal(t, fault.Unavailable, fault.KindOf(c.Operate(t.Context(), protocol.Mutation{Host: "a"}, nil)), "nothing was begun")
		c.Close()
	})
}

func TestOperationsAreBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s, taken := operating(t)
		ends := make(chan error, protocol.MaxPendingOps)
		for range protocol.MaxPendingOps {
			go func() { ends <- c.Operate(t.Context(), protocol.Mutation{Host: "a"}, nil) }()
		}
		synctest.Wait()
		require.Len(t, taken, protocol.MaxPendingOps)
		require.Equal(t, fault.Limit, fault.KindOf(c.Operate(t.Context(), protocol.Mutation{Host: "a"}, nil)))
		for range protocol.MaxPendingOps {
			(<-taken).Finish(nil)
			require.NoError(t, <-ends)
		}
		part(c, s)
	})
	bubble.Test(t, func(t *testing.T) { // the broker counts for itself
		p, s, taken := scriptOperating(t)
		for n := range protocol.MaxPendingOps + 1 {
			p.send(&protocol.Mutation{Operation: protocol.OperationID{1, byte(n)}, Kind: protocol.RemoveHost, Host: "a"})
		}
		r := wants[*protocol.OperationResult](p, "one too many")
		require.Equal(t, fault.Limit, r.Failure.Kind)
		require.Equal(t, protocol.OperationID{1, protocol.MaxPendingOps}, r.Operation)
		(<-taken).Finish(nil)
		require.Equal(t, protocol.OutcomeOK, wants[*protocol.OperationResult](p, "the first").Outcome)
		p.send(&protocol.Mutation{Operation: protocol.OperationID{1}, Kind: protocol.RemoveHost, Host: "a"})
		require.Equal(t, fault.Conflict, wants[*protocol.OperationResult](p, "its id was used").Failure.Kind)
		p.rw.Close()
		<-s.Done()
	})
}

// scriptOperating is script for a broker that takes operations.
func scriptOperating(t *testing.T) (*scripted, *Server, <-chan ports.OperationRequest) {
	taken := make(chan ports.OperationRequest, 2*protocol.MaxPendingOps)
	p, s := scriptOn(t, 1<<16)
	s.conn.mu.Lock()
	s.broker.Operate = func(r ports.OperationRequest) { taken <- r }
	s.conn.mu.Unlock()
	return p, s, taken
}

// Who waits hears of every step, however slow, but of what passes only the newest.
func TestWhatIsToldOfAnOperation(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s, taken := operating(t)
		go func() {
			r := <-taken
			for i := range 100 {
				r.Progress(protocol.Progress{Text: fmt.Sprint(i)})
			}
			for i := range maxSteps - 1 {
				r.Progress(protocol.Progress{Step: protocol.StepSSH, Text: fmt.Sprint(i)})
				r.Progress(protocol.Progress{Text: "passes"})
			}
			time.Sleep(time.Minute)
			r.Finish(nil)
		}()
		var told []string
		require.NoError(t, c.Operate(t.Context(), protocol.Mutation{Host: "a"}, func(p protocol.Progress) {
			time.Sleep(time.Second)
			if p.Step != "" {
				told = append(told, p.Text)
			}
		}))
		require.Len(t, told, maxSteps-1)
		require.Equal(t, "0", told[0])
		part(c, s)
	})
	bubble.Test(t, func(t *testing.T) {
		c, p := scriptBrokerOn(t, 1<<16)
		go func() {
			asked := wants[*protocol.Mutation](p, "asked")
			p.send(&protocol.Progress{Operation: asked.Operation, Step: "name"})
			time.Sleep(time.Second) // the client has taken note of that, and is busy with it
			for range maxSteps + 1 {
				p.send(&protocol.Progress{Operation: asked.Operation, Step: "tcp"})
			}
		}()
		err := c.Operate(t.Context(), protocol.Mutation{Host: "a"}, func(protocol.Progress) { time.Sleep(time.Hour) })
		require.Equal(t, fault.Unknown, fault.KindOf(err))
		<-c.Done()
		require.Equal(t, fault.Violation, fault.KindOf(c.Err()), "more than anybody needs")
		p.rw.Close()
	})
}

func TestNewsOfNoOperationIsAViolation(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, p := scriptBrokerOn(t, 1<<16)
		go func() {
			asked := wants[*protocol.Mutation](p, "asked")
			p.send(&protocol.OperationResult{Operation: asked.Operation, Outcome: protocol.OutcomeFailed}) // without a reason
			p.send(&protocol.Progress{Operation: asked.Operation, Text: "late"})                           // crossed the end
			p.send(&protocol.Progress{Operation: protocol.OperationID{7}, Text: "of what?"})
		}()
		require.Equal(t, fault.Unknown, fault.KindOf(c.Operate(t.Context(), protocol.Mutation{Host: "a"}, nil)))
		<-c.Done()
		require.Equal(t, fault.Violation, fault.KindOf(c.Err()))
		p.rw.Close()
	})
}
