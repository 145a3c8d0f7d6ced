#!/bin/sh
# One case of bad input: run.sh DSE NAME [--update]. The case is NAME.toml, a sweep that must be refused, or NAME.sh, a script that provokes
# the complaint with $DSE, or with $DSE_TOY, which has the made-up models of the unit tests, and their data directory $TOY. What it writes to stderr, and the exit status of its last command, must equal NAME.err.
set -u
DSE=$1 name=$2
bad=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cp "$bad"/*.toml "$bad/lib" "$work"
cd "$work" || exit 1
export DSE NO_COLOR=1 LC_ALL=C ASAN_OPTIONS=detect_leaks=1
if [ -f "$bad/$name.sh" ]; then
    sh "$bad/$name.sh" 2>said.txt >out.txt
else
    "$DSE" sweep "$name.toml" 2>said.txt >out.txt
fi
printf '[exit status %d]\n' $? >>said.txt
if [ "${3:-}" = --update ]; then
    cp said.txt "$bad/$name.err"
elif ! diff -u "$bad/$name.err" said.txt; then
    exit 1
fi
