#!/bin/sh
# Build the Debian package of a source tree: packaging/deb.sh SOURCE FOLDER [JOBS]. The tree is copied to FOLDER/tree, where what was built
# stays, so that a second build compiles what changed; the package ends up in FOLDER.
set -eu
source=$(cd "$1" && pwd)
mkdir -p "$2/tree"
folder=$(cd "$2" && pwd)
jobs=${3:-$(nproc)}

# What belongs to the tree: in a repository what is not ignored, else everything; and the charting library, if it was fetched.
cd "$source"
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard
else
    find . -type f -not -path './build*' -not -path './.git/*' -print0
fi >"$folder/files"
[ ! -f report/node_modules/echarts/dist/echarts.min.js ] || printf 'report/node_modules/echarts/dist/echarts.min.js\0' >>"$folder/files"
# Other rules configure anew.
if [ -d "$folder/tree/debian" ] && ! cmp -s debian/rules "$folder/tree/debian/rules"; then rm -rf "$folder"/tree/obj-* "$folder/tree/debian"; fi
xargs -0 sh -c 'for f; do [ ! -f "$f" ] || printf "%s\0" "$f"; done' sh <"$folder/files" | tar --null -T - -cf - | tar -C "$folder/tree" -xf - --keep-newer-files 2>/dev/null || true

cd "$folder/tree"
rm -f ../dse_*.deb
if command -v ccache >/dev/null; then
    CC='ccache gcc' CXX='ccache g++'
    export CC CXX
fi
DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$jobs" dpkg-buildpackage -us -uc -b -nc >"$folder/log" 2>&1 || {
    tail -n 30 "$folder/log" >&2
    exit 1
}
ls "$folder"/dse_*.deb
