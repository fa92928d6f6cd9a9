package calc

import (
	"log"
	"testing"
)

func TestDoubles(t *testing.T) {
	if Add(1, 2) != 4 {
		log.Fatal("no")
		t.Fail()
	}
}
