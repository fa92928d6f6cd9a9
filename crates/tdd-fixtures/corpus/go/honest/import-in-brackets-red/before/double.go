package calc

// Double is twice a number.
func Double(n int) int { return n + n }
