// Package gallery is the service that shows many sessions at once, live, in the user's terminal, and lets one be chosen.
//
// It owns the terminal while it runs and gives it back as it was found. It never types into a session, never decides its size,
// and never knows how a host is reached: ports.Sessions tells which sessions there are, ports.Pictures what they show.
//
// # Route of a picture
//
// A tile's reader takes the newest picture from its stream and hands it to the loop, which lets the tile's engine become it,
// puts what has changed on the canvas (an engine of the terminal's size) and paints the difference. The reader asks for the
// next picture when the loop has taken one, and the loop paints at most so often: while the terminal takes nothing no
// picture is asked for, and the next one is the newest.
//
// # Goroutines
//
// Run's own watches the terminal's events and decides the end. The loop draws, the pump reads keys, the lister follows the
// sessions, and each tile that is visible has a reader. The pump waits for none of them, so q works with a stuck terminal. All are
// joined before Run returns; a panic in any ends it in order.
package gallery
