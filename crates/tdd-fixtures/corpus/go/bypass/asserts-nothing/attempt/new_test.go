package calc

import "testing"

func TestDoubles(t *testing.T) {
	Double(2)
}
