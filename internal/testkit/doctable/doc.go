// Package doctable reads the tables and byte examples of the documents, for the tests that
// compare them with the code. A table or example is found by the comment in front of it:
// <!-- table: NAME --> or <!-- hex: NAME -->.
package doctable
