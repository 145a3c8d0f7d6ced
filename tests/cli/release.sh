#!/bin/sh
# Licence and notice are complete, the version says what it should, and `./dev release` makes one.
. "$(dirname "$0")/lib.sh"
SOURCE=$2
grep -q 'Apache License' "$SOURCE/LICENSE" || fail "no licence"
for f in "$SOURCE"/catalog/measured/*.csv; do
    source=$(sed -n 's/^# source: *//p' "$f" | head -n 1)
    grep -qF "$(basename "$f")" "$SOURCE/NOTICE" || fail "NOTICE does not name $(basename "$f")"
    grep -qF -- "$source" "$SOURCE/NOTICE" || fail "NOTICE has another source of $(basename "$f"): $source"
done

"$DSE" --version --verbose >out.txt
for key in build libraries models data catalog licence; do
    grep -q "^$key: ." out.txt || fail "no $key: $(cat out.txt)"
done
sqlite=$(sqlite3 :memory: 'select sqlite_version()')
grep -q "SQLite $sqlite" out.txt || fail "not SQLite $sqlite: $(cat out.txt)"
status=0
"$DSE" --version --nonsense >out.txt 2>&1 || status=$?
[ $status -eq 2 ] || fail "--version --nonsense: exit status $status"
# The catalog's hash is of what stands in it.
mkdir data data/models data/catalog
for f in "$SOURCE"/catalog/* "$SOURCE"/models/*; do
    ln -s "$f" "data/$(basename "$(dirname "$f")")/"
done
hash_of() { DSE_DATA_DIR=$PWD/data "$DSE" --version --verbose | sed -n "s/^$1: \([0-9a-f]*\).*/\1/p"; }
before=$(hash_of catalog)
[ "$before" = "$(sed -n 's/^catalog: \([0-9a-f]*\).*/\1/p' <<EOF
$("$DSE" --version --verbose)
EOF
)" ] || fail "another place has another hash"
rm data/catalog/llms.toml
sed 's/^layers = 32/layers = 31/' "$SOURCE/catalog/llms.toml" >data/catalog/llms.toml
[ "$(hash_of catalog)" != "$before" ] || fail "another catalog has the same hash"

# A release of a repository of its own.
command -v git >/dev/null || { echo "SKIPPED: there is no git" >&2; exit 77; }
mkdir tree
cp "$SOURCE/dev" "$SOURCE/meson.build" "$SOURCE/CHANGELOG.md" "$SOURCE/LICENSE" "$SOURCE/NOTICE" tree/
cp -r "$SOURCE/debian" tree/
cd tree
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t HOME="$WORK"
git init -q . && git add -A && git commit -qm start
status=0
./dev release 9.8 >../out.txt 2>&1 || status=$?
[ $status -eq 2 ] || fail "release 9.8: exit status $status"
echo >>LICENSE
status=0
./dev release 9.8.7 >../out.txt 2>&1 || status=$?
[ $status -eq 1 ] && grep -q 'not committed' ../out.txt || fail "a release of what is not committed: $(cat ../out.txt)"
git checkout -q LICENSE
./dev release 9.8.7 --no-package >../out.txt 2>&1 || fail "no release: $(cat ../out.txt)"
grep -q "version: '9.8.7'" meson.build || fail "meson.build has another version"
grep -q '^## \[9.8.7\] - ' CHANGELOG.md && grep -q '^## \[Unreleased\]' CHANGELOG.md || fail "the changelog has no such version"
grep -q '^dse (9.8.7-1)' debian/changelog || fail "debian/changelog has no such version"
[ "$(git describe)" = v9.8.7 ] || fail "no tag: $(git describe)"
(cd dist && sha256sum -c --quiet dse-9.8.7.sha256) || fail "the checksums are others'"
tar -tJf dist/dse-9.8.7.tar.xz | grep -qx 'dse-9.8.7/meson.build' || fail "the archive has no meson.build"
