package pty

func arguments(pid int) []string { return describe(pid).Argv }

// reads is not told: what a process waits for is not in the system's interface at hand.
func reads(int, int, bool) bool { return false }
