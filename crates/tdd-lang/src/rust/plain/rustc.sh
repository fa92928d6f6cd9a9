#!/bin/sh
# Compiles as for a release; the target with the test becomes a plain program.
rustc=$1
shift
unset CARGO_PRIMARY_PACKAGE RUSTC_WORKSPACE_WRAPPER
found= test= checks=
for word; do
  case $word in
    ___ | -vV) exec "$rustc" "$@" ;;
    --test) test=1 ;;
    overflow-checks=*) checks=1 ;;
    '@ROOT@' | */'@ROOT@') found=$word ;;
  esac
done
if [ -n "$test" ] && [ -n "$found" ]; then
  place=${found%'@ROOT@'}
  for word; do
    shift
    case $word in
      --test) ;;
      "$found") set -- "$@" "${place}@SWAPPED@" ;;
      *) set -- "$@" "$word" ;;
    esac
  done
  set -- "$@" --remap-path-prefix="${place}@SWAPPED@=${place}@SHOWN@"
fi
[ -n "$checks" ] || set -- "$@" -C overflow-checks=on
exec "$rustc" "$@" -C debug-assertions=@ASSERTIONS@ --cap-lints allow
