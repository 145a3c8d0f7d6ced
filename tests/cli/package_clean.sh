#!/bin/sh
# Needs: debhelper mmdebstrap
# A clean machine: a Debian of this release made of its packages, in a folder; the package installed there by apt, and what a user does then.
#     package_clean.sh DSE SOURCE BUILD      needs root, mmdebstrap and a mirror of Debian; some 40 seconds
SOURCE=$(cd "$2" && pwd) build=$(cd "$3" && pwd)
. "$(dirname "$0")/lib.sh"
skip() {
    echo "SKIPPED: $*" >&2
    exit 77
}
# shellcheck source=/dev/null
release=$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME") || skip "this is no Debian, whose release the package is for"
command -v mmdebstrap >/dev/null || skip "there is no mmdebstrap to make a clean root with (apt install mmdebstrap)"
[ "$(id -u)" = 0 ] || skip "a clean root needs root"
. "$SOURCE/tests/cli/package.lib"

# What a user does. Every answer is looked at where it is given.
cat >user.sh <<'USER'
set -eu
export HOME=/root LC_ALL=C.UTF-8 MANPAGER=cat MANWIDTH=100
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
mkdir -p /tmp/user
cd /tmp/user
dse eval lad --set context=1024 >out.txt
grep -q '^tokens_per_s ' out.txt || fail "dse eval lad: $(cat out.txt)"
for page in dse dse-sweep dse-catalog dse-lad; do
    man "$page" >out.txt 2>err.txt || fail "man $page: $(cat err.txt)"
done
man dse-sweep | grep -q -e '--lease' || fail "man dse-sweep: $(man dse-sweep | head)"
# As bash does when TAB is pressed: the completion is loaded for the command, and its function called.
bash -c '
    . /usr/share/bash-completion/bash_completion
    _completion_loader dse || [ $? -eq 124 ]
    set -- $(complete -p dse)
    while [ "$1" != -F ]; do shift; done
    COMP_LINE="dse eval lad --set ti" COMP_WORDS=(dse eval lad --set ti) COMP_CWORD=4
    COMP_POINT=${#COMP_LINE}
    compopt() { :; }
    $2 dse ti --set
    printf "%s\n" "${COMPREPLY[@]}"' >out.txt || fail "no completion for dse"
grep -qx 'tiles=' out.txt || fail "dse eval lad --set ti<TAB>: $(cat out.txt)"
python3 /usr/share/dse/examples/front.py >out.txt || fail "front.py"
grep -q '^hypervolume up to' out.txt && [ "$(wc -l <out.txt)" -gt 5 ] || fail "front.py: $(cat out.txt)"
python3 /usr/share/dse/examples/points.py >out.txt || fail "points.py"
sqlite3 -cmd '.load dse' :memory: 'SELECT tiles, tokens_per_s > 0 FROM lad WHERE tiles IN (4, 8, 12) AND context = 1024' >out.txt
[ "$(cat out.txt)" = "$(printf '4|1\n8|1\n12|1')" ] || fail ".load dse: $(cat out.txt)"
# A plug-in and a model in TOML in a sweep beside LAD.
cat >beside.toml <<'TOML'
# A clean machine: LAD beside a plug-in and a model in TOML.
[sweep]
name = "beside"
models = ["lad", "roofline", "array"]
[params]
context = [1024, 4096]
[objectives]
tokens_per_s = "max"
TOML
DSE_PLUGINS=/tmp/roofline/roofline.so:/usr/share/dse/examples/array.toml dse sweep beside.toml -q >out.txt 2>err.txt || fail "sweep: $(cat err.txt)"
for model in lad roofline array; do
    dse query results/beside.db "SELECT count(*) AS n FROM ${model}_all" --format csv >rows.txt || fail "no rows of $model"
    [ "$(tail -n 1 rows.txt)" -ge 2 ] || fail "rows of $model: $(cat rows.txt)"
done
cd /usr/share/dse
dse sweep sweeps/lad_sram.toml -q --no-figures -o /tmp/user/lad_sram.db | grep -q '^lad' || fail "a sweep of the package's"
USER
# What mmdebstrap calls in the new root: from here on a failure is one of the package.
cat >hook.sh <<HOOK
set -eu
root=\$1
: >"$WORK/made"
cp "$deb" "\$root/tmp/"
chroot "\$root" apt-get install -y --no-install-recommends "/tmp/$(basename "$deb")" >"$WORK/apt.txt" 2>&1 || { cat "$WORK/apt.txt"; exit 1; }
mkdir "\$root/tmp/roofline"
cp "\$root"/usr/share/dse/examples/roofline/* "\$root/tmp/roofline"
cc -std=gnu17 -O2 -shared -fPIC -I"\$root/usr/include" "\$root/tmp/roofline/roofline.c" "\$(find "\$root/usr/lib" -name libdse.so)" -lm -o "\$root/tmp/roofline/roofline.so"
cp "$WORK/user.sh" "\$root/tmp/"
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "\$root" sh /tmp/user.sh
chroot "\$root" apt-get purge -y dse >"$WORK/apt.txt" 2>&1 || { cat "$WORK/apt.txt"; exit 1; }
left=\$(find "\$root/usr" "\$root/etc" -path '*dse*' -not -path '*/python3*' -not -name '*addse*' | grep -E '/(lib)?dse([./-]|\$)' || true)
[ -z "\$left" ] || { echo "FAILED: left behind by apt purge: \$left"; exit 1; }
: >"$WORK/done"
HOOK
mmdebstrap --quiet --variant=apt --format=null --include=python3,man-db,bash-completion,sqlite3 --aptopt='Acquire::Languages "none"' \
    --aptopt='Acquire::Retries "1"' --aptopt='Acquire::http::Timeout "15"' --customize-hook="sh $WORK/hook.sh \"\$1\"" "$release" /dev/null >said.txt 2>&1 || true
[ -f made ] || skip "no clean root can be made of packages here: $(tail -n 3 said.txt)"
[ -f "done" ] || fail "on a clean machine: $(cat said.txt)"
