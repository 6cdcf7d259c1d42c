package main

import (
	"context"
	"slices"

	"github.com/vev-term/vev/streambus"
)

const (
	topic  = "session/0123456789abcdef/event"
	prefix = "session/0123456789abcdef/"
	buffer = 64
)

// bus is one publisher's end.
type bus struct {
	publish func([]byte) error
	flush   func() error
	stop    func()
}

// kind is a way to hand frames out. start calls got from each subscriber's reader, and only
// while frames are on their way.
type kind struct {
	name   string
	start  func(subscribers int, got func(subscriber, frames int)) (bus, error)
	most   int // subscribers that it is tried with, 0 for any
	slower int // it is given that much less to do
}

const (
	channelsName = "channels"
	exactName    = "streambus, exact"
	prefixName   = "streambus, prefix"
	sharedName   = "NATS, one connection"
	eachName     = "NATS, a connection each"
)

var kinds = []kind{
	{channelsName, channels, 0, 1},
	{exactName, onBus(streambus.SubscribeOptions{Topic: topic}, buffer), 0, 1},
	{prefixName, onBus(streambus.SubscribeOptions{Prefix: prefix}, buffer), 0, 1},
	{"streambus, frame by frame", onBus(streambus.SubscribeOptions{Topic: topic}, 1), 0, 1},
	{sharedName, natsShared, 0, 2},
	{eachName, natsEach, 100, 2},
}

func nothing() error { return nil }

func channels(subscribers int, got func(int, int)) (bus, error) {
	all := make([]chan []byte, subscribers)
	for i := range all {
		all[i] = make(chan []byte, buffer)
		go func() {
			for range all[i] {
				got(i, 1)
			}
		}()
	}
	return bus{
		publish: func(p []byte) error {
			p = slices.Clone(p)
			for _, c := range all {
				c <- p
			}
			return nil
		},
		flush: nothing,
		stop: func() {
			for _, c := range all {
				close(c)
			}
		},
	}, nil
}

// onBus has readers that take up to batch frames at a time.
func onBus(o streambus.SubscribeOptions, batch int) func(int, func(int, int)) (bus, error) {
	return func(subscribers int, got func(int, int)) (bus, error) {
		b, err := streambus.NewInMemory(streambus.Config{DefaultBuffer: buffer})
		if err != nil {
			return bus{}, err
		}
		ctx := context.Background()
		o.Overflow = streambus.Block
		for i := range subscribers {
			s, err := b.Subscribe(ctx, o)
			if err != nil {
				return bus{}, err
			}
			go func() {
				into := make([]streambus.Message, batch)
				for {
					n, err := s.Receive(ctx, into)
					if err != nil {
						return
					}
					got(i, n)
				}
			}()
		}
		return bus{
			publish: func(p []byte) error {
				_, err := b.Publish(ctx, streambus.Frame{Topic: topic, Payload: p})
				return err
			},
			flush: nothing,
			stop:  b.Close,
		}, nil
	}
}
