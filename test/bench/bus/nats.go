package main

import (
	"errors"
	"math"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Subjects are topics with dots for slashes.
var subject = strings.ReplaceAll(topic, "/", ".")

func natsShared(subscribers int, got func(int, int)) (bus, error) { return onNATS(1, subscribers, got) }

func natsEach(subscribers int, got func(int, int)) (bus, error) {
	return onNATS(subscribers, 1, got)
}

// onNATS has so many connections with so many subscriptions each. Nothing is bounded that it
// would otherwise drop: what it is compared with drops nothing either.
func onNATS(connections, each int, got func(int, int)) (bus, error) {
	s, err := server.NewServer(&server.Options{DontListen: true, NoLog: true, NoSigs: true, MaxPending: math.MaxInt32})
	if err != nil {
		return bus{}, err
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return bus{}, errors.New("the server does not start")
	}
	var open []*nats.Conn
	stop := func() {
		for _, c := range open {
			c.Close()
		}
		s.Shutdown()
		s.WaitForShutdown()
	}
	publisher, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		stop()
		return bus{}, err
	}
	open = append(open, publisher)
	for i := range connections {
		c, err := subscribe(s, i*each, each, got)
		if err != nil {
			stop()
			return bus{}, err
		}
		open = append(open, c)
	}
	return bus{
		publish: func(p []byte) error { return publisher.Publish(subject, p) },
		flush:   publisher.Flush,
		stop:    stop,
	}, nil
}

func subscribe(s *server.Server, first, n int, got func(int, int)) (*nats.Conn, error) {
	c, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		return nil, err
	}
	for i := range n {
		sub, err := c.Subscribe(subject, func(*nats.Msg) { got(first+i, 1) })
		if err != nil {
			return c, err
		}
		if err := sub.SetPendingLimits(-1, -1); err != nil {
			return c, err
		}
	}
	return c, c.Flush()
}
