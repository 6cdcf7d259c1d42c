// Package descriptor reads and writes non-blocking descriptors so that a key that comes to an idle process costs no more
// than its own system calls.
//
// The runtime's monitor sleeps while a process is idle, and the first system call that the runtime knows of wakes it, in
// case that the call takes long: another thread that runs for nothing, several times on the way of each key and its echo,
// on a processor that the key needs. A call that moves a few bytes of a non-blocking descriptor cannot take long. On Linux
// such calls are made here behind the runtime's back, and all others as usual: whoever reads much, or reads without ever
// having to wait, does need the monitor, which takes turns from him for others.
//
// Frames of bulk between two processes are moved so, too, by who says so (OfBulk, Writes). The monitor takes the turn from a
// call that has lasted for twenty microseconds, which is about what copying a frame takes: another thread is found for it, and
// nothing is won. One call of each row that never had to wait is left to it, so it is awake where it is needed.
package descriptor
