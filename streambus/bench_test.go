package streambus

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkPublish is the publisher's part alone: nobody reads. test/bench/bus measures the whole way.
func BenchmarkPublish(b *testing.B) {
	for name, o := range map[string]SubscribeOptions{
		"exact":  {Topic: "session/1/event", Overflow: LatestOnly},
		"prefix": {Prefix: "session/1/", Overflow: LatestOnly},
	} {
		for _, n := range []int{1, 100, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				ctx := context.Background()
				bus, err := NewInMemory(Config{})
				if err != nil {
					b.Fatal(err)
				}
				for range n {
					if _, err := bus.Subscribe(ctx, o); err != nil {
						b.Fatal(err)
					}
				}
				f := Frame{Topic: "session/1/event", Payload: make([]byte, 128)}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := bus.Publish(ctx, f); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/delivery")
			})
		}
	}
}
