#!/bin/sh
# Needs: locales
# A program with a decimal comma in its locale gets the numbers that any other gets, from libdse and from SQL: formulas of a model in TOML, "0.5", and all.
SOURCE=$(cd "$2" && pwd) BUILD=$3
. "$(dirname "$0")/lib.sh"
. "$SOURCE/tests/cli/library.lib"
export LC_ALL=C
command -v localedef >/dev/null 2>&1 && [ -f /usr/share/i18n/locales/de_DE ] || { echo "no locales to make one with a comma of"; exit 77; }
mkdir locale
localedef -i de_DE -f UTF-8 "$WORK/locale/de_DE.UTF-8" >localedef.txt 2>&1 || [ -d locale/de_DE.UTF-8 ] || fail "localedef: $(cat localedef.txt)"
install_into "$WORK/root"
sed -e 's/^name  = "array"/name = "comma"/' -e 's/"op.ops \/ peak_ops_per_s"/"max(2,5,1) * 1.5 * op.ops \/ peak_ops_per_s"/' "$SOURCE/examples/array.toml" >comma.toml
grep -q 'max(2,5,1)' comma.toml || fail "the example has no such formula"
# shellcheck disable=SC2086
cc -std=c99 -Wall -Wextra -Werror $sanitised -I"$(dirname "$header")/.." "$SOURCE/tests/cli/comma_locale.c" -L"$lib" -ldse -lsqlite3 -o comma || fail "the program does not compile"
export DSE_PLUGINS="$WORK/comma.toml" # for SQL, which is told of none; the library then has it, too
env -u DSE_DATA_DIR ./comma "$SOURCE/examples/array.toml" "$lib/dse.so" >plain.txt 2>err.txt || fail "in C: $(cat err.txt)"
echo 'leak:__argz_add_sep' >glibc.supp # with LOCPATH set, newlocale of glibc 2.36 keeps its list of folders
env -u DSE_DATA_DIR -u LC_ALL LSAN_OPTIONS=suppressions=glibc.supp:print_suppressions=0 LOCPATH="$WORK/locale" LOCALE=de_DE.UTF-8 ./comma "$SOURCE/examples/array.toml" "$lib/dse.so" >comma.txt 2>err.txt || fail "with a comma: $(cat err.txt)"
[ "$(grep -c ' ok ' plain.txt)" -ge 8 ] || fail "few answers: $(cat plain.txt)"
diff plain.txt comma.txt || fail "other numbers with a comma"
