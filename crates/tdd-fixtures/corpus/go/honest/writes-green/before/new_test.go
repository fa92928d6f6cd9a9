package calc

import (
	"bytes"
	"testing"
)

func TestDoubles(t *testing.T) {
	var out bytes.Buffer
	Greet(&out, "you")
	if out.String() != "hello, you\n" {
		t.Errorf("got %q", out.String())
	}
}
