#!/bin/sh
# Compiles a package of the workspace with the crate that alters answers, and with specialization.
rustc="$1"
shift
name=
target=
for word in "$@"; do
    case "$last" in
    --crate-name) name="$word" ;;
    --target) target="$word" ;;
    esac
    last="$word"
done
# Cargo asks for the version and the known settings.
if [ -z "$name" ] || [ "$name" = ___ ]; then
    exec "$rustc" "$@"
fi
RUSTC_BOOTSTRAP=1
export RUSTC_BOOTSTRAP
folder="${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}}/altered/${target:-host}"
library="$folder/libT_HELPER.rlib"
if [ ! -f "$library" ]; then
    mkdir -p "$folder/$$" || exit 1
    rm -f "$folder"/libt_*.rlib
    "$rustc" --crate-name T_HELPER --crate-type rlib --edition 2021 --cap-lints allow ${target:+--target "$target"} \
        --out-dir "$folder/$$" 'T_SOURCE' || exit 1
    mv "$folder/$$/libT_HELPER.rlib" "$library" || exit 1
    rm -rf "$folder/$$"
fi
exec "$rustc" "$@" --cap-lints allow -Zcrate-attr='feature(specialization)' --extern "T_HELPER=$library" \
    -L "dependency=$folder"
