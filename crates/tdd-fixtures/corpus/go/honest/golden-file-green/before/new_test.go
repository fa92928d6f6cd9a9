package calc

import (
	"fmt"
	"os"
	"testing"
)

func TestDoubles(t *testing.T) {
	want, err := os.ReadFile("testdata/double.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintln(Double(2)); got != string(want) {
		t.Errorf("got %s", got)
	}
}
