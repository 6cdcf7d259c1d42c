package protocol

import "github.com/vev-term/vev/internal/domain/catalogue"

// The catalogue travels as a snapshot, parts between a begin and an end that commit as a
// whole, then as one delta for each revision (docs/protocol.md, Catalogue).
type (
	// Subscribe asks for the catalogue, from now on. KnownRevision is what the client has from an earlier connection to the
	// same broker process, or 0. Hosts are what it is about; none: every host that is known.
	Subscribe struct {
		KnownRevision uint64
		Hosts         []string
		Reach         Reach
	}
	// Resync asks for a snapshot: the client has missed something.
	Resync      struct{ HaveRevision uint64 }
	Unsubscribe struct{}

	// SnapshotPart is one part of the snapshot of a revision.
	SnapshotPart struct {
		Revision uint64
		Part     CatalogueEntry
	}
	// SnapshotDelta turns its base, which is not 0, into its revision; a receiver that has another asks Resync.
	SnapshotDelta struct{ catalogue.Delta }

	SnapshotBegin struct{}
	SnapshotEnd   struct{ Parts uint32 } // parts between begin and end
	HostEntry     struct{ catalogue.Host }
	SessionEntry  struct{ catalogue.Session }
	Tombstone     struct{ catalogue.Key }

	// PreviewPublication is the newest picture of a session that StartPreview asked for.
	PreviewPublication struct {
		Operation OperationID
		Sequence  uint64
		Content   []byte
	}
	// Prompt is a question of ssh that PromptReply answers.
	Prompt struct {
		Prompt [16]byte
		Host   string
		Text   string
		Echo   bool // what the user types may be shown
	}
)

// Reach says how far a subscription goes to know what there is.
type Reach uint32

const (
	ReachAll  Reach = 0 // every host is asked, and dialed for that
	ReachWarm Reach = 1 // only those that a link leads to already
)

// CatalogueEntry is what a SnapshotPart may hold.
type CatalogueEntry interface{ catalogueEntry() }

func (SnapshotBegin) catalogueEntry() {}
func (SnapshotEnd) catalogueEntry()   {}
func (HostEntry) catalogueEntry()     {}
func (SessionEntry) catalogueEntry()  {}
func (Tombstone) catalogueEntry()     {}
