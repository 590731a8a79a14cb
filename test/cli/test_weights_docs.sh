#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_weights_docs.sh QUIPU SOURCE - docs/formats.md prints the registries as they are, and each of
# its recipes does what the text around it says on the stories model.
quipu=$1
source=$2
. "$source/test/cli/weights.sh"

page=$source/docs/formats.md
model=$data/weights/stories260k-bf16.safetensors

expect 0 formats --markdown
sed -n '/^<!-- quipu formats/,/^<!-- end/p' "$page" | sed '1d;$d' >"$work/table"
same "$work/out" "$work/table"

# Each block of JSON to a file of its own: recipe.1, recipe.2, ...
awk -v folder="$work" '
    /^```json$/ { inside = 1; n++; next }
    /^```$/ { inside = 0; next }
    inside { print > (folder "/recipe." n) }' "$page"

n=0
for recipe in "$work"/recipe.*; do
    n=$((n + 1))
    expect 0 convert --quiet --recipe "$recipe" "$model" "$work/$n.ninfer"
    expect 0 verify "$work/$n.ninfer"
done
[ "$n" -eq 4 ] || fail "$n recipes in the page, not 4"

expect 0 info "$work/1.ninfer"
said out q4_g64_fp16
said out q6_g64_fp16
expect 0 info "$work/2.ninfer"
said out q8_g32_fp16
expect 0 info --json "$work/3.ninfer"
said out AllowA8
expect 0 info "$work/4.ninfer"
said out fp8_e4m3fn_row_bf16
finish
