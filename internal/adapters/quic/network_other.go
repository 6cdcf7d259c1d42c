//go:build !linux

package quic

import (
	"errors"
	"io"
)

// networkChanges: this system does not tell.
func networkChanges() (io.ReadCloser, error) { return nil, errors.ErrUnsupported }
