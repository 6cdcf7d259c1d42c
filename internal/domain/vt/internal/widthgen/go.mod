module github.com/vev-term/vev/internal/domain/vt/internal/widthgen

go 1.26.0

require (
	github.com/clipperhouse/displaywidth v0.11.0
	github.com/clipperhouse/uax29/v2 v2.7.0
)
