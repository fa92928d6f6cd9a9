package calc

import (
	"math"
	"testing"
)

func TestDoubles(t *testing.T) {
	if got := Third(1); math.Abs(got-0.333333) > 1e-5 {
		t.Errorf("got %v", got)
	}
}
