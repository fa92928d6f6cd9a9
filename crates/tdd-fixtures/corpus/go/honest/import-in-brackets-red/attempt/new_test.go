package calc

import (
	"errors"
	"testing"
)

func TestDoubles(t *testing.T) {
	if got := Double(2); got != 4 {
		t.Errorf("got %d", got)
	}
}

func TestHalf(t *testing.T) {
	if _, err := Half(3); !errors.Is(err, ErrOdd) {
		t.Errorf("got %v", err)
	}
}
