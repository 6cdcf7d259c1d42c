// Package descriptor reads and writes non-blocking descriptors so that a key that comes to an idle process costs no more
// than its own system calls.
//
// The runtime's monitor sleeps while a process is idle, and the first system call that the runtime knows of wakes it, in
// case that the call takes long: another thread that runs for nothing, several times on the way of each key and its echo,
// on a processor that the key needs. A call that moves a few bytes of a non-blocking descriptor cannot take long. On Linux
// such calls are made here behind the runtime's back, and all others as usual: whoever reads much, or reads without ever
// having to wait, does need the monitor, which takes turns from him for others.
package descriptor
