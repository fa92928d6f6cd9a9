package calc

// Step is a step.
var Step = 1
