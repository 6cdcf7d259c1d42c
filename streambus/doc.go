// Package streambus carries frames from publishers to subscribers within one process, and says
// how such frames travel between processes.
//
// A frame has a topic, an opaque payload, a reliability and a priority. [Bus.Publish] gives it the
// bus's next sequence and hands it to every subscription to its topic, to a begin of it, or to
// all topics. Each subscription states with its [Overflow] what happens when its reader does not keep up:
// the publisher waits, the new or the oldest frame goes, or only the latest is kept. Whatever is
// dropped is counted: for a subscription, frames offered are those read, dropped and pending.
//
// # Order and completeness
//
// Sequences are of the whole bus, begin at 1 and grow by 1 with each frame, so a prefix over many topics has one order.
// A subscription reads what was replayed first, then interactive frames, then bulk; within
// a priority always in the order of sequences. Each priority has room of its own: a flood of bulk costs no
// interactive frame, and holds up no publisher of one.
//
// A frame is published to all that match or to none. While a Block subscription has no room,
// Publish waits until there is, until its context ends, or until the subscription or the bus does.
// A Block subscription therefore sees every sequence that it matches. Publishers of other topics go on meanwhile.
//
// With Config.ReplayCapacity the bus keeps the last frames of each topic, bounded in frames,
// bytes and topics. A subscription may begin with the last N of them, or with all after a sequence;
// the latter is refused with [ErrReplayUnavailable] if one of them may be gone. [Subscription.Resume] is
// the sequence to go on from later.
//
// # Costs
//
// Publish copies the payload once, into the message that all receivers share: one allocation up to 136 bytes, two
// beyond. When queues have grown to what they need it allocates nothing else, however many subscriptions there are, and holds a pointer
// for each. A reader that waits is woken once, however much comes until it reads. It looks the topic up in a map and walks it once through a tree of
// prefixes: subscriptions to other topics cost nothing. A payload is shared by all receivers, and is read-only.
//
// # Goroutines and locks
//
// The bus has no goroutine, nor has a subscription. The end of a subscription's context runs one for
// a moment (see [context.AfterFunc]), and Close of the bus waits for it. One lock orders publishers; each subscription has a
// lock of its own, taken under the first by publishers and alone by readers. Neither is held while anything waits.
//
// # Between processes
//
// [EncodeMessage] and [DecodeMessage] are for datagrams, one message each; [WriteMessage] and [NewReader] for
// streams. The format is versioned, has one encoding for each message, and is bounded by what the reader says.
package streambus
