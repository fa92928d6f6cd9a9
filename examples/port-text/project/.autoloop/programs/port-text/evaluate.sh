# Prints how many tests pass, and how many fail, as one line of JSON.
output=$(cargo test --offline 2>&1 || true)
sum() { grep -oE "[0-9]+ $1" <<< "$output" | awk '{ sum += $1 } END { print sum + 0 }'; }
if ! grep -q "^test result:" <<< "$output"; then
    echo "$output" >&2
    exit 1
fi
echo "{\"metric\": $(sum passed), \"passing\": $(sum passed), \"failing\": $(sum failed)}"
