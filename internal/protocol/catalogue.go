package protocol

// The catalogue travels as a snapshot, parts between a begin and an end that commit as a
// whole, then as one delta for each revision (docs/protocol.md, Catalogue).
type (
	// SnapshotPart is one part of the snapshot of a revision.
	SnapshotPart struct {
		Revision uint64
		Part     CatalogueEntry
	}
	// SnapshotDelta turns BaseRevision into Revision; a receiver that has another asks Resync.
	SnapshotDelta struct {
		BaseRevision uint64
		Revision     uint64
		Hosts        []HostEntry
		Sessions     []SessionEntry
		Tombstones   []Tombstone
	}

	SnapshotBegin struct{}
	SnapshotEnd   struct{ Parts uint32 } // parts between begin and end
	HostEntry     struct {
		Host          string
		Address       string
		LinkState     uint32
		Transport     uint32
		LastContactMS int64 // Unix time, or 0
		Failure       *Failure
	}
	SessionEntry struct {
		Host     string
		Session  [16]byte
		Name     string
		State    uint32
		Title    string
		Attached uint32
	}
	// Tombstone says that a session, or with a zero Session a host, is gone.
	Tombstone struct {
		Host    string
		Session [16]byte
	}

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

// CatalogueEntry is what a SnapshotPart may hold.
type CatalogueEntry interface{ catalogueEntry() }

func (SnapshotBegin) catalogueEntry() {}
func (SnapshotEnd) catalogueEntry()   {}
func (HostEntry) catalogueEntry()     {}
func (SessionEntry) catalogueEntry()  {}
func (Tombstone) catalogueEntry()     {}
