# runs a test as a plain program
# It stands in no folder of a build, has no arguments, and writes its report where production does not print.
set -eu
program=$1 name=$2 how=$3 times=$4 folder=$5 listed=$6 script=$7
shift 7
exec 3>&1 1>&2
start() {
  place=$(mktemp -d "${TMPDIR:-/tmp}/XXXXXX")
  printf '%s\n%s\n' "$name" "$how" >"$place/in"
  app=$program
  if [ -z "$script" ]; then
    app=$place/app
    ln "$program" "$app" 2>/dev/null || cp "$program" "$app"
  fi
  exec <"$place/in"
  rm "$place/in"
  if [ -z "$listed" ]; then
    cd "./$folder"
    exec env "$@" "$app"
  fi
  mkdir "$place/home"
  if [ -s "$listed" ]; then tar -cf - -T "$listed" | tar -xf - -C "$place/home"; fi
  mkdir -p "$place/home/$folder"
  cd "$place/home/$folder"
  exec env -i PATH="$PATH" HOME="$HOME" TMPDIR="$TMPDIR" ${LANG+LANG="$LANG"} ${TZ+TZ="$TZ"} "$@" "$app" ${script:+"$place/home/$script"}
}
# What it keeps outside of its folder must not change its answers.
while [ "$times" -gt 1 ]; do
  (start "$@")
  times=$((times - 1))
done
start "$@"
