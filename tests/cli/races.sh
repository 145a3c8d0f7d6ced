#!/bin/sh
# libdse in many threads, built with the sanitizer that looks for races.
SOURCE=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
printf 'int main(void) { return 0; }\n' >none.c
# Where addresses are spread more than it bears, it needs them not to be.
plain="setarch $(uname -m) -R"
cc -fsanitize=thread none.c -o none 2>err.txt && $plain ./none 2>err.txt || { echo "skipped: no sanitizer of races: $(cat err.txt)"; exit 77; }
meson setup race "$SOURCE" -Dbuildtype=debugoptimized -Doptimization=1 -Db_sanitize=thread -Db_lundef=false -Dbench=false >setup.txt 2>&1 || fail "meson setup: $(tail -n 5 setup.txt)"
ninja -C race tests/unit/test_library_hosts >build.txt 2>&1 || fail "the build: $(tail -n 5 build.txt)"
DSE_DATA_DIR=$SOURCE TSAN_OPTIONS="exitcode=66 ${TSAN_OPTIONS:-}" $plain race/tests/unit/test_library_hosts >out.txt 2>&1 || fail "a race, or another answer: $(grep -v ' OK \| RUN ' out.txt | head -n 60)"
env -u DSE_DATA_DIR TSAN_OPTIONS="exitcode=66 ${TSAN_OPTIONS:-}" $plain race/tests/unit/test_library_hosts >out.txt 2>&1 || fail "where nobody says where the data are: $(grep -v ' OK \| RUN ' out.txt | head -n 60)"
