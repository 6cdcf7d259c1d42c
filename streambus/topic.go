package streambus

import "unicode/utf8"

// MaxTopicBytes bounds a topic, and with it the depth of the tree of prefixes.
const MaxTopicBytes = 255

// ValidTopic returns nil, or a *TopicError that says which rule topic breaks: it has 1 to
// MaxTopicBytes bytes of UTF-8 without control characters. Nothing in it has a meaning for the
// bus; levels divided by slashes are a custom that makes prefixes useful.
func ValidTopic(topic string) error {
	switch {
	case topic == "":
		return &TopicError{topic, "it is empty"}
	case !utf8.ValidString(topic):
		return &TopicError{topic, "it is not UTF-8"}
	}
	return validBytes(topic)
}

// validBytes holds for topics, and for prefixes, which may end within a character.
func validBytes(s string) error {
	if len(s) > MaxTopicBytes {
		return &TopicError{s, "it is longer than 255 bytes"}
	}
	for i := range len(s) {
		if s[i] < 0x20 || s[i] == 0x7f {
			return &TopicError{s, "it has a control character"}
		}
	}
	return nil
}
