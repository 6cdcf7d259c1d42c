package talk

import (
	"context"
	"errors"

	"github.com/vev-term/vev/internal/protocol"
)

// Operate has the broker carry out an operation on its hosts and waits for its end; told hears of each step, on this
// goroutine. Faults as of brokeripc.Client.Operate; they name d's host, the zero value where the operation reaches none.
func (d *Dialer) Operate(ctx context.Context, m protocol.Mutation, told func(protocol.Progress)) error {
	var err error
	for range maxRefusals {
		err = d.operate(ctx, m, told)
		cut, ok := errors.AsType[*cutError](err)
		if !ok {
			break
		}
		if err = cut.cause; !Sleep(ctx, LastPause) {
			break
		}
	}
	return At(d.Host, err)
}

// operate does so with one broker. What that refuses because it is ending was not begun, and can be asked of the next one.
func (d *Dialer) operate(ctx context.Context, m protocol.Mutation, told func(protocol.Progress)) error {
	dialing, cancel := context.WithTimeout(ctx, protocol.HandshakeTimeout)
	defer cancel()
	broker, err := d.Broker(dialing)
	if err != nil {
		return err
	}
	defer broker.Close()
	if d.Person != nil {
		defer answering(ctx, broker, d.Person)()
	}
	err = broker.Operate(ctx, m, told)
	if broker.Err() != nil {
		return cut(err)
	}
	return err
}
