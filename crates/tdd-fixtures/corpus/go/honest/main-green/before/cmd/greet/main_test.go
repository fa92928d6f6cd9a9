package main

import (
	"strings"
	"testing"
)

func TestGreets(t *testing.T) {
	var out strings.Builder
	if run([]string{"Ada"}, &out); out.String() != "Hello, Ada\n" {
		t.Errorf("got %q", out.String())
	}
}
