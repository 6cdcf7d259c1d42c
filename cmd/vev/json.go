package main

import (
	"encoding/json"

	"github.com/vev-term/vev/internal/domain/fault"
)

// printJSON answers with one indented JSON value and a line end. What programs said appears
// in it as data: only what JSON itself needs is escaped.
func (c *cli) printJSON(v any) error {
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fault.Wrap(fault.Internal, err, "cannot write the answer")
	}
	return nil
}
