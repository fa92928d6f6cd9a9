package calc

import (
	"errors"
	"testing"
)

func TestDoubles(t *testing.T) {
	if _, err := Half(3); !errors.Is(err, ErrOdd) {
		t.Errorf("got %v", err)
	}
}
