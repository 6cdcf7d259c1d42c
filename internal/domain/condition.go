package domain

import "time"

// Activity is what a session is doing, as far as that is known.
type Activity uint8

// The activities, from the least to the most that they ask of a person.
const (
	Working   Activity = iota // a program runs
	AtPrompt                  // a shell waits for a command
	AtInput                   // a program waits for what is typed
	Attention                 // it wants a person: a bell, a notification, or its own word
	Ended                     // the program has exited
	activities
)

var activityNames = [activities]string{"running", "prompt", "input", "attention", "exited"}

func (a Activity) String() string {
	if a < activities {
		return activityNames[a]
	}
	return ""
}

// Valid reports whether a is one of the activities.
func (a Activity) Valid() bool { return a < activities }

// ActivitySet is a set of activities: bit n stands for activity n.
type ActivitySet uint32

// With returns s and a.
func (s ActivitySet) With(a Activity) ActivitySet { return s | 1<<a }

// Has reports whether a is in s.
func (s ActivitySet) Has(a Activity) bool { return s>>a&1 != 0 }

// ParseActivity reads an activity by its name.
func ParseActivity(name string) (Activity, bool) {
	for a := range activities {
		if activityNames[a] == name {
			return a, true
		}
	}
	return 0, false
}

// ActivityNames are the names of all activities.
func ActivityNames() []string { return append([]string(nil), activityNames[:]...) }

// MaxReasonBytes bounds the reason of a condition; a longer one is cut by whoever makes it.
const MaxReasonBytes = 256

// Condition is an activity with its reason and when it began.
type Condition struct {
	Activity Activity
	Reason   string
	Since    time.Time
}

// Fact is what a session's condition is made from.
type Fact uint8

// The facts. Each comes with a time, and some with words of the program or of the system.
const (
	FactOutput  Fact = iota // it printed something
	FactPrompt              // its shell marked a prompt
	FactCommand             // its shell marked the begin of a command
	FactReady               // the system says: a shell waits for a line
	FactReads               // the system says: a program waits for input
	FactBusy                // the system says: nothing of it waits for input
	FactCall                // a bell, a notification, or a program that says it is blocked; words: why
	FactSeen                // a person looked at it, or typed
	FactTyped               // somebody else typed: a request
	FactSettled             // the program took back that it is blocked
	FactExited              // the program ended; words: how
	facts
)

// Course is the state machine behind a session's condition. The zero value is a program that has just begun; give it
// the time of that with Began.
type Course struct {
	base  Condition // without attention
	call  Condition // Since is zero: nobody is called
	ended Condition // Since is zero: it runs
	said  bool      // the shell marks its prompts: the system is not to be believed against it
}

// Began sets when the program began.
func (c *Course) Began(at time.Time) {
	c.base = Condition{Activity: Working, Reason: "started", Since: at}
}

// Condition is the one that holds.
func (c *Course) Condition() Condition {
	switch {
	case !c.ended.Since.IsZero():
		return c.ended
	case !c.call.Since.IsZero():
		return c.call
	}
	return c.base
}

// Is reports whether one of the activities holds: a program that wants a person may run, or wait for input, as well.
func (c *Course) Is(s ActivitySet) bool {
	return s.Has(c.Condition().Activity) || c.ended.Since.IsZero() && s.Has(c.base.Activity)
}

// Marked reports whether the shell itself said that it is at a prompt.
func (c *Course) Marked() bool { return c.base.Activity == AtPrompt && c.said }

// Step takes a fact and reports whether the condition is another one now.
func (c *Course) Step(f Fact, words string, at time.Time) bool {
	before := c.Condition()
	if c.ended.Since.IsZero() {
		c.step(f, words, at)
	}
	after := c.Condition()
	return before.Activity != after.Activity || before.Reason != after.Reason
}

func (c *Course) step(f Fact, words string, at time.Time) {
	switch f {
	case FactPrompt:
		c.said = true
		c.become(AtPrompt, "the shell says so", at)
	case FactCommand:
		c.said = false
		c.become(Working, "a command began", at)
	case FactReady:
		if !c.Marked() {
			c.become(AtPrompt, words, at)
		}
	case FactReads:
		if !c.Marked() {
			c.become(AtInput, words, at)
		}
	case FactBusy:
		if !c.Marked() {
			c.become(Working, "a program runs", at)
		}
	case FactOutput, FactTyped:
		// What the system said before may not hold any more; a shell's mark does until its next.
		if c.base.Activity == AtInput {
			c.become(Working, "output or input since", at)
		}
	case FactCall:
		if c.call.Since.IsZero() {
			c.call.Since = at // it waits since the first call
		}
		c.call.Activity, c.call.Reason = Attention, words
	case FactSeen, FactSettled:
		c.call = Condition{}
	case FactExited:
		c.ended = Condition{Activity: Ended, Reason: words, Since: at}
	case facts:
	}
}

func (c *Course) become(a Activity, reason string, at time.Time) {
	if c.base.Activity != a {
		c.base.Since = at
	}
	c.base.Activity, c.base.Reason = a, reason
}
