package mcp

import "github.com/google/jsonschema-go/jsonschema"

// named bounds the property that names a session.
func named(j *jsonschema.Schema) { text(j, "session", 1, 512) }

// text bounds the characters of a property.
func text(j *jsonschema.Schema, property string, least, most int) {
	p := j.Properties[property]
	p.MaxLength = &most
	if least > 0 {
		p.MinLength = &least
	}
}

// number bounds a property's value.
func number(j *jsonschema.Schema, property string, least, most float64) {
	p := j.Properties[property]
	p.Minimum, p.Maximum = &least, &most
}

// list bounds a property that is a list of texts.
func list(j *jsonschema.Schema, property string, items, characters int) {
	p := j.Properties[property]
	p.Type, p.Types = "array", nil // nil is left out, not null
	p.MaxItems = &items
	p.Items.MaxLength = &characters
}
