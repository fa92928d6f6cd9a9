# builds the test as a plain program with cargo
set -eu
wrapper=$1 text=$2 root=$3
shift 3
mkdir -p "${wrapper%/*}"
printf '%s\n' "$text" >"$wrapper"
chmod +x "$wrapper"
export RUSTC_WORKSPACE_WRAPPER="$wrapper"
"$@" >"$wrapper.out"
grep -F "\"src_path\":\"$root\"" "$wrapper.out" | grep -F '"test":true' | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
