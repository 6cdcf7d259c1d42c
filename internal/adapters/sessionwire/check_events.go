package sessionwire

import (
	"math"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// maxTimeUS is the last microsecond of the year 9999.
const maxTimeUS = maxTimeMS*1000 + 999

func checkEvents(m *protocol.WatchedEvents) error {
	for i := range m.Events {
		if err := checkHappened(&m.Events[i]); err != nil {
			return err
		}
	}
	return nil
}

func checkHappened(e *domain.Event) error {
	if err := checkRange("time of event in us", unixUS(e.At), 0, maxTimeUS); err != nil {
		return err
	}
	if err := checkRange("count of event", int64(e.Count), math.MinInt32, math.MaxInt32); err != nil {
		return err
	}
	if err := checkRange("status of event", int64(e.Status), math.MinInt32, math.MaxInt32); err != nil {
		return err
	}
	if err := checkRange("took of event in ms", e.Took.Milliseconds(), 0, int64(maxTookMS)); err != nil {
		return err
	}
	return checkSizeOrNone("event", e.Size)
}

func checkCondition(c *domain.Condition) error {
	if err := checkRange("activity", int64(c.Activity), int64(domain.Working), int64(domain.Ended)); err != nil {
		return err
	}
	return checkRange("begin of condition in ms", unixMS(c.Since), 0, maxTimeMS)
}

func checkAwaited(m *protocol.Awaited) error {
	if err := checkExit(m.Exit); err != nil {
		return err
	}
	if m.Event != nil {
		if err := checkHappened(m.Event); err != nil {
			return err
		}
	}
	return checkCondition(&m.Condition)
}
