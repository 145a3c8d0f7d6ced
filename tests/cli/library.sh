#!/bin/sh
# libdse: its page is its header, it exports what the header declares, and the examples in C and Python say what `dse eval` says.
#     library.sh DSE SOURCE BUILD       compare
#     library.sh DSE SOURCE --update    write docs/reference/library.md anew
SOURCE=$(cd "$2" && pwd) BUILD=$3
. "$(dirname "$0")/lib.sh"
. "$SOURCE/tests/cli/library.lib"
export LC_ALL=C

# A comment becomes text, one of few words a heading, and what it is about a block of code.
page() {
    awk '
        function flush() { if (code != "") printf "```c\n%s```\n\n", code; code = "" }
        BEGIN { print "<!-- written by tests/cli/library.sh --update from include/dse/dse.h -->\n" }
        /^#|^extern "C"|^}$/ { next }
        !inside && /^\/\* / { flush(); inside = 1; text = ""; sub(/^\/\* /, "") }
        inside {
            last = sub(/ ?\*\/$/, ""); sub(/^ \* ?/, "")
            text = text $0 "\n"
            if (!last) next
            inside = 0
            if (!titled++) { sub(/^/, "# ", text); sub(/\n\n/, "\n\n", text) }
            else if (text !~ /[.:;)]\n$/ && length(text) < 40) { sub(/^/, "## ", text) }
            printf "%s\n", text
            next
        }
        NF { code = code $0 "\n"; next }
        { flush() }
        END { flush() }' "$SOURCE/include/dse/dse.h" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}
page >library.md
if [ "${3:-}" = --update ]; then
    cp library.md "$SOURCE/docs/reference/library.md"
    exit 0
fi
diff "$SOURCE/docs/reference/library.md" library.md || fail "docs/reference/library.md is not include/dse/dse.h; tests/cli/library.sh DSE SOURCE --update writes it"

# Away from the build and the source: the data are found beside the library.
install_into "$WORK/root"
cd "$WORK"
grep -oE '\bdse_[a-z_]+\(' "$header" | tr -d '(' | sort -u >declared.txt
nm -D --defined-only "$lib/libdse.so.1" | sed -n 's/.* \(dse_[a-z_]*\)@@DSE_1$/\1/p' | sort >exported.txt
diff declared.txt exported.txt || fail "dse.h does not declare what libdse exports as stable"
if nm -D --defined-only "$lib/libdse.so.1" | grep -vE ' (dse_[a-z_0-9]*@@DSE_(1|MODEL)|DSE_(1|MODEL)(@@DSE_(1|MODEL))?|__.*|_.*)$' >others.txt; then
    fail "libdse exports more: $(head -n 3 others.txt)"
fi
readelf -d "$lib/libdse.so.1" | grep -q 'SONAME.*libdse\.so\.1\]' || fail "no soname"

pc=$(PKG_CONFIG_SYSROOT_DIR=$WORK/root PKG_CONFIG_PATH=$(dirname "$(find "$WORK/root" -name dse.pc)") pkg-config --cflags --libs dse)
# shellcheck disable=SC2086
cc -std=c99 -pedantic -Wall -Wextra -Werror $sanitised "$SOURCE/examples/points.c" $pc -o points || fail "the example does not compile"
env -u DSE_DATA_DIR ./points 2048 >c.csv || fail "the example in C does not run"
if [ -z "$sanitised" ]; then # whose frames are larger
    # shellcheck disable=SC2086
    cc -std=c99 -pedantic -Wall -Wextra -Werror -pthread "$SOURCE/tests/cli/small_stack.c" $pc -o small_stack || fail "small_stack.c does not compile"
    DSE_PLUGINS="$SOURCE/examples/array.toml:$SOURCE/examples/data_sheet.toml" env -u DSE_DATA_DIR ./small_stack 2>err.txt || fail "in a thread with the stack that dse.h says: $(cat err.txt)"
fi
printf '#include <dse/dse.h>\nint main() { return dse_version() == nullptr; }\n' >header.cc
c++ -Wall -Wextra -Werror -I"$(dirname "$header")/.." -fsyntax-only header.cc || fail "dse.h is no C++"
for tiles in 1 8 16; do
    "$DSE" eval lad --set context=2048 --set tiles=$tiles --format csv >eval.csv
    expected=$(sqlite3 :memory: '.mode csv' '.import eval.csv t' "select tokens_per_s, area_mm2, status from t")
    got=$(sqlite3 :memory: '.mode csv' '.import c.csv t' "select printf('%!.15g', tokens_per_s), printf('%!.15g', area_mm2), status from t where tiles = $tiles")
    sqlite3 :memory: '.mode csv' '.import eval.csv e' '.import c.csv c' \
        "select max(abs(e.tokens_per_s / c.tokens_per_s - 1), abs(e.area_mm2 / c.area_mm2 - 1)) < 1e-9 from e, c where c.tiles = $tiles" | grep -qx 1 ||
        fail "$tiles tiles: the library says $got, dse eval $expected"
done
if env -u DSE_DATA_DIR ./points many >out.txt 2>err.txt; then fail "a context that is no number was taken"; fi
grep -q 'context: "many" is not one value' err.txt || fail "no diagnostics: $(cat err.txt)"

python=$(command -v python3) || { echo "skipped: the example in Python, for there is no python3"; exit 0; }
in_host "$python" "$SOURCE/examples/points.py" 2048 >python.csv || fail "the example in Python does not run"
sqlite3 :memory: '.mode csv' '.import python.csv p' '.import c.csv c' \
    "select count(*) = 16 from p join c using (tiles) where abs(p.tokens_per_s - c.tokens_per_s) <= 1e-12 * c.tokens_per_s and p.status = c.status" |
    grep -qx 1 || fail "Python's numbers are others"
