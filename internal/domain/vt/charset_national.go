package vt

// nationalPositions are the characters that a national replacement character set (ISO 646, DEC STD 070) may replace.
const nationalPositions = "#@[\\]^_`{|}~"

// nationalSets holds what each set has in those places.
var nationalSets = [...][len(nationalPositions)]rune{
	0:                                 {'£', '@', '[', '\\', ']', '^', '_', '`', '{', '|', '}', '~'},
	charsetDutch - charsetUK:          {'£', '¾', 'ĳ', '½', '|', '^', '_', '`', '¨', 'ƒ', '¼', '´'},
	charsetFinnish - charsetUK:        {'#', '@', 'Ä', 'Ö', 'Å', 'Ü', '_', 'é', 'ä', 'ö', 'å', 'ü'},
	charsetFrench - charsetUK:         {'£', 'à', '°', 'ç', '§', '^', '_', '`', 'é', 'ù', 'è', '¨'},
	charsetFrenchCanadian - charsetUK: {'#', 'à', 'â', 'ç', 'ê', 'î', '_', 'ô', 'é', 'ù', 'è', 'û'},
	charsetGerman - charsetUK:         {'#', '§', 'Ä', 'Ö', 'Ü', '^', '_', '`', 'ä', 'ö', 'ü', 'ß'},
	charsetItalian - charsetUK:        {'£', '§', '°', 'ç', 'é', '^', '_', 'ù', 'à', 'ò', 'è', 'ì'},
	charsetNorwegian - charsetUK:      {'#', 'Ä', 'Æ', 'Ø', 'Å', 'Ü', '_', 'ä', 'æ', 'ø', 'å', 'ü'},
	charsetPortuguese - charsetUK:     {'#', '@', 'Ã', 'Ç', 'Õ', '^', '_', '`', 'ã', 'ç', 'õ', '~'},
	charsetSpanish - charsetUK:        {'£', '§', '¡', 'Ñ', '¿', '^', '_', '`', '°', 'ñ', 'ç', '~'},
	charsetSwedish - charsetUK:        {'#', 'É', 'Ä', 'Ö', 'Å', 'Ü', '_', 'é', 'ä', 'ö', 'å', 'ü'},
	charsetSwiss - charsetUK:          {'ù', 'à', 'é', 'ç', 'ê', 'î', 'è', 'ô', 'ä', 'ö', 'ü', 'û'},
}

// nationalRune returns what a character shows in a national set.
func nationalRune(c charset, r rune) rune {
	for i, p := range nationalPositions {
		if p == r {
			return nationalSets[c-charsetUK][i]
		}
	}
	return r
}
