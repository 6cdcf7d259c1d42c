package protocol

import (
	"errors"

	"github.com/vev-term/vev/internal/domain/fault"
)

func faultOf(err error) (*fault.Error, bool) { return errors.AsType[*fault.Error](err) }
