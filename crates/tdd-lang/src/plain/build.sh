# builds the test as a plain program
# When the program runs, the sources of the tests are gone: it cannot take its answers from them.
set -eu
root=$1
sources=$2
shift 2
"$@"
cd "$root"
printf '%s\n' "$sources" | while IFS= read -r file; do
  if [ -n "$file" ]; then rm -f "$file"; fi
done
