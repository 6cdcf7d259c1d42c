package streambus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vev-term/vev/streambus"
)

func Example() {
	ctx := context.Background()
	bus, err := streambus.NewInMemory(streambus.Config{})
	if err != nil {
		panic(err)
	}
	builds, err := bus.Subscribe(ctx, streambus.SubscribeOptions{Prefix: "build/", Overflow: streambus.DropOldest})
	if err != nil {
		panic(err)
	}
	bus.Publish(ctx, streambus.Frame{Topic: "build/web", Payload: []byte("ok")})
	bus.Publish(ctx, streambus.Frame{Topic: "deploy/web", Payload: []byte("started")})
	bus.Publish(ctx, streambus.Frame{Topic: "build/api", Payload: []byte("failed")})
	bus.Close()

	for {
		m, err := builds.Next(ctx)
		if errors.Is(err, streambus.ErrClosed) {
			break
		}
		fmt.Printf("%d %s: %s\n", m.Sequence, m.Topic, m.Payload)
	}
	// Output:
	// 1 build/web: ok
	// 3 build/api: failed
}

// A reader that was away goes on after the last frame it has seen.
func ExampleBus_Subscribe_since() {
	ctx := context.Background()
	bus, _ := streambus.NewInMemory(streambus.Config{ReplayCapacity: 2})
	for _, word := range []string{"one", "two", "three"} {
		bus.Publish(ctx, streambus.Frame{Topic: "words", Payload: []byte(word)})
	}
	options := streambus.SubscribeOptions{Topic: "words", Overflow: streambus.Block, Since: new(uint64(1))}
	s, _ := bus.Subscribe(ctx, options)
	for range 2 {
		m, _ := s.Next(ctx)
		fmt.Printf("%s\n", m.Payload)
	}

	options.Since = new(uint64(0))
	_, err := bus.Subscribe(ctx, options)
	if gap, ok := errors.AsType[*streambus.ReplayError](err); ok {
		fmt.Println("missed up to", gap.Earliest)
	}
	// Output:
	// two
	// three
	// missed up to 1
}

// A subscriber that must not miss anything holds its publisher up, as long as that is willing to wait.
func ExampleBus_Publish_block() {
	bus, _ := streambus.NewInMemory(streambus.Config{})
	bus.Subscribe(context.Background(), streambus.SubscribeOptions{Topic: "t", Buffer: 1, Overflow: streambus.Block})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	for {
		if _, err := bus.Publish(ctx, streambus.Frame{Topic: "t"}); err != nil {
			fmt.Println(err)
			break
		}
	}
	fmt.Println("published:", bus.Stats().Sequence)
	// Output:
	// streambus: a subscriber has no room: context deadline exceeded
	// published: 1
}

// A view that shows the state of something wants the newest alone.
func ExampleSubscription_Stats() {
	ctx := context.Background()
	bus, _ := streambus.NewInMemory(streambus.Config{})
	view, _ := bus.Subscribe(ctx, streambus.SubscribeOptions{Topic: "speed", Overflow: streambus.LatestOnly})
	for speed := range 100 {
		bus.Publish(ctx, streambus.Frame{Topic: "speed", Payload: fmt.Append(nil, speed)})
	}
	m, _ := view.Next(ctx)
	stats := view.Stats()
	fmt.Printf("%s; %d offered = %d read + %d dropped + %d pending\n", m.Payload, stats.Offered, stats.Read, stats.Dropped, stats.Pending)
	// Output:
	// 99; 100 offered = 1 read + 99 dropped + 0 pending
}

func ExampleNewReader() {
	var stream bytes.Buffer // a connection
	for i, word := range []string{"hello", "world"} {
		streambus.WriteMessage(&stream, streambus.Message{
			Frame:    streambus.Frame{Topic: "words", Payload: []byte(word)},
			Sequence: uint64(i + 1),
		})
	}
	r, _ := streambus.NewReader(&stream, 1024)
	for {
		m, err := r.Next()
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Printf("%d %s %s\n", m.Sequence, m.Topic, m.Payload)
	}
	// Output:
	// 1 words hello
	// 2 words world
	// EOF
}
