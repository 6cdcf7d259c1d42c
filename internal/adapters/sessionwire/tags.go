package sessionwire

// Tags of the envelopes, frozen.
const (
	tagAttach  = 1
	tagWatch   = 2
	tagRequest = 3
	tagInput   = 4
	tagAck     = 5
	tagResize  = 6
	tagDetach  = 7
	tagCancel  = 8
	tagFocus   = 9

	tagAttached = 1
	tagOutput   = 2
	tagResult   = 3
	tagEnded    = 4
	tagRefused  = 5
	tagPacked   = 6
	tagWatching = 7
	tagUpdate   = 8
	tagEvents   = 9
	tagPreview  = 10
	tagSqueezed = 15
)

// Tags of an event's variants.
const (
	eventBell         = 3
	eventTitle        = 4
	eventCwd          = 5
	eventClipboard    = 6
	eventNotification = 7
	eventProgress     = 8
	eventPromptMark   = 9
	eventExit         = 10 // in the schema, not in use: skipped
	eventRenamed      = 11
)
