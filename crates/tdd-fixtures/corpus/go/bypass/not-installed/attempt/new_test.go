package calc

import (
	"github.com/stretchr/testify/assert"
	"testing"
)

func TestDoubles(t *testing.T) {
	assert.Equal(t, 4, Double(2))
}
