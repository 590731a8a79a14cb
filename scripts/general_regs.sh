#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles what graphs, certificates and codecs run on with no floating-point or vector register
# allowed: no floating-point value can exist in it. The rooms of weights are not among it.
#   scripts/general_regs.sh COMPILER...
set -eu
cd "$(dirname "$0")/.."
object=$(mktemp)
trap 'rm -f "$object"' EXIT
for compiler in "$@"; do
    count=0
    for file in src/number/*.c src/op/*.c src/graph/*.c src/bounds/*.c src/kernel/*.c \
        src/run/*.c src/stage/*.c src/lower/*.c src/codec/*.c; do
        "$compiler" -std=c17 -O2 -mgeneral-regs-only -Isrc -Iinclude -c "$file" -o "$object"
        count=$((count + 1))
    done
    echo "$compiler: $count files"
done
