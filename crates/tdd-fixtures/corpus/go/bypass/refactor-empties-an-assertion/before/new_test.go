package calc

import "testing"

func TestAddsMore(t *testing.T) {
	Expect(t, Add(2, 2), 4)
}
