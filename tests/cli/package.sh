#!/bin/sh
# Needs: debhelper lintian
# The Debian package: built, without a complaint of lintian's, installed into a root of its own and run from there.
SOURCE=$(cd "$2" && pwd) build=$(cd "$3" && pwd)
. "$(dirname "$0")/lib.sh"
if ! command -v lintian >/dev/null; then
    echo "SKIPPED: there is no lintian to check the package with" >&2
    exit 77
fi
. "$SOURCE/tests/cli/package.lib"
lintian --fail-on error,warning --tag-display-limit 0 "$deb" >lint.txt 2>&1 || fail "lintian: $(cat lint.txt)"

# A root with nothing in it but dpkg's own notes.
mkdir -p root/var/lib/dpkg/info root/var/lib/dpkg/updates root/var/lib/dpkg/triggers
: >root/var/lib/dpkg/status
: >root/var/lib/dpkg/available
if ! dpkg --root="$WORK/root" --force-depends --force-not-root --force-bad-path --log=/dev/null -i "$deb" >dpkg.txt 2>&1; then
    fail "dpkg -i: $(cat dpkg.txt)"
fi
grep -q '^Status: install ok installed' root/var/lib/dpkg/status || fail "it is not installed: $(cat dpkg.txt)"
dse=$WORK/root/usr/bin/dse
installed() { env -u DSE_DATA_DIR LD_LIBRARY_PATH="$(dirname "$(find "$WORK/root/usr/lib" -name 'libdse.so.*' | head -n 1)")" "$dse" "$@"; }
installed eval lad --set context=1024 >out.txt || fail "the installed dse does not evaluate"
grep -q tokens_per_s out.txt || fail "no metrics: $(cat out.txt)"
installed --version --verbose >out.txt
grep -q "^data: $WORK/root/usr/share/dse" out.txt || fail "its data are elsewhere: $(cat out.txt)"
for file in share/man/man1/dse-sweep.1.gz share/man/man5/dse-catalog.5.gz share/man/man7/dse-lad.7.gz share/doc/dse/NOTICE \
    share/bash-completion/completions/dse share/dse/sweeps/lad_sram.toml; do
    [ -f "root/usr/$file" ] || [ -f "root/usr/$file.gz" ] || fail "/usr/$file is not in the package"
done
bash -c 'compopt() { :; }; source root/usr/share/bash-completion/completions/dse; COMP_LINE="$0 eval lad --set ti" COMP_POINT=$((${#0} + 21)); _dse; printf "%s\n" "${COMPREPLY[@]}"' "$dse" >out.txt
grep -qx 'tiles=' out.txt || fail "TAB does not complete: $(cat out.txt)"
dpkg --root="$WORK/root" --force-not-root --force-bad-path --log=/dev/null -P dse >dpkg.txt 2>&1 || fail "dpkg -P: $(cat dpkg.txt)"
[ ! -e "$dse" ] || fail "it is still there after it was purged"
