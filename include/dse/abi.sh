#!/bin/sh
# abi.sh COMPILER... -- HEADER...: what models are compiled against, as a number. Comments and spaces do not count.
export LC_ALL=C
compiler=
while [ "$1" != -- ]; do compiler="$compiler $1"; shift; done
shift
# shellcheck disable=SC2086
hash=$(cat "$@" | $compiler -fpreprocessed -dD -E -P -x c - | sha256sum | cut -c1-16)
printf '/* Made when dse is built. */\n#ifndef DSE_ABI_H\n#define DSE_ABI_H\n\n/* What these headers are, as a number: others have another. */\n'
printf '#define DSE_HEADERS "%s"\n\n#endif\n' "$hash"
