#!/bin/sh
# Needs: python3
# Models of others that were made to hurt, in TOML and as plug-ins: each is refused with a message, or taken, in 2 s and 1 GiB. Everyday runs
# take one of eight.
SOURCE=$(cd "$2" && pwd) BUILD=$3
. "$(dirname "$0")/lib.sh"
. "$SOURCE/tests/cli/library.lib"
export LC_ALL=C
install_into "$WORK/root"
pc=$(PKG_CONFIG_SYSROOT_DIR=$WORK/root PKG_CONFIG_PATH=$(dirname "$(find "$WORK/root" -name dse.pc)") pkg-config --cflags --libs dse)
limits="--every 8"
[ "${DSE_SAMPLES:-}" != all ] || limits=
if [ -n "$sanitised" ]; then # which takes other times, other memory, no leak of a plug-in for ours, and ends a crash as a crash ends
    limits="$limits --seconds 60 --mib 4096"
    export ASAN_OPTIONS="abort_on_error=1:detect_leaks=0:allocator_may_return_null=1:detect_odr_violation=0:${ASAN_OPTIONS:-}"
    export UBSAN_OPTIONS="abort_on_error=1:${UBSAN_OPTIONS:-}"
fi
mkdir toml plugins
grep -v -e peak_tflops -e op_pj -e stream_mib "$SOURCE/examples/roofline/defaults.toml" >plugins/defaults.toml
# shellcheck disable=SC2086
(cd toml && python3 "$SOURCE/tests/cli/hostile_models.py" toml "$DSE" $limits) || fail "models in TOML"
# shellcheck disable=SC2086
(cd plugins && python3 "$SOURCE/tests/cli/hostile_models.py" plugins "$DSE" $limits -- $pc) || fail "plug-ins"
