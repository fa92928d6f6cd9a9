# go test with a test of our own
# In each package stands one more test, under a name that nobody could know: a report without it is none of go's.
set -eu
name=TestTdd_$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
dir=$TMPDIR/tdd
mkdir -p "$dir"
overlay=$1
packages=$2
shift 2
for package in $packages; do
  printf 'package %s\n\nimport %sing "testing"\n\nfunc %s(t *%sing.T) {}\n' "$package" "$name" "$name" "$name" >"$dir/$package.go"
done
printf '%s' "$overlay" | sed -e "s|@NAME@|$name|g" -e "s|@DIR@|$dir|g" >"$dir/overlay.json"
printf '{"Action":"canary","Test":"%s"}\n' "$name"
for word; do
  shift
  set -- "$@" "$(printf '%s' "$word" | sed -e "s|@NAME@|$name|g" -e "s|@DIR@|$dir|g")"
done
exec "$@"
