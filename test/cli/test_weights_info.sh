#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_weights_info.sh QUIPU SOURCE - quipu info, hash and compare of files of weights, and pack:
# one file from arrays, changed here and there.
quipu=$1
source=$2
. "$source/test/cli/weights.sh"
full=$data/ggml/a-full.gguf
single=$data/ninfer/a-single.ninfer

# ---- info ----
expect 0 info "$full"
narrow out
said out "gguf weights, 5472 bytes"
said out "22 tensors, 7250 weights, 3.498 bits a weight; 18 keys of metadata"
said out "blk.0.iq2_xxs.weight  IQ2_XXS  [2, 256]    2.062  132"
said out "example.i64           i64              -9223372036854775808"
said out 'example.arr_str       array of string  "a", "", "ccc"'
expect 0 info "$single"
narrow out
said out "12 tensors, 18388 weights, 5.486 bits a weight; 2 resources; 8 keys of metadata"
said out "r/tokenizer  raw_bytes_v1  65"
expect 0 info - <"$data/ggml/a-good.safetensors"
said out "5 tensors"
expect 0 info --json "$single" "$full"
said out '"name":"w/nvfp4-stack"'
said out '"example.u64":18446744073709551615'
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys
decoder, text = json.JSONDecoder(), open(sys.argv[1]).read()
while text.strip():
    text = text.lstrip()
    text = text[decoder.raw_decode(text)[1]:]' "$work/out" || fail "info --json is no JSON"
fi

# one tensor: bars in ASCII, or in blocks where the locale has them
quipu_locale=$(LC_ALL=C "$quipu" info --tensor half.weight "$full")
echo "$quipu_locale" | grep -q '#' || fail "no bars in ASCII"
LC_ALL=C.UTF-8 TERM=xterm "$quipu" info --tensor half.weight "$full" | grep -q '█' ||
    fail "no blocks in UTF-8"
expect 0 info --tensor w/int32-words --json "$single"
said out '"finite":4'
said out '"bins":['
expect 1 info --tensor nothing "$single"
said err "there is no tensor 'nothing'"
expect 1 info --tensor x "$source/models/superres-x3.whg1"
expect 1 info "$source/README.md"
said err "of no kind of file that info knows"
expect 1 info "$data/ninfer/a-old-v1.ninfer"
said err F-MAGIC

# ---- pack: arrays in, the same arrays out ----
"$quipu" extract "$single" w/q4-absmax-tail1 -o "$work/w.npy"
"$quipu" extract --words "$full" half.weight -o "$work/h.npy"
"$quipu" extract --words "$single" w/int32-words -o "$work/i.npy"
expect 0 pack "$work/w.npy" half="$work/h.npy" "$work/i.npy" -o "$work/a.safetensors"
expect 0 info "$work/a.safetensors"
said out "w       F32   [2, 130]"
said out "half    F16   [2, 3]"
said out "i       I32   [1, 1, 2, 2]"
expect 0 extract --words "$work/a.safetensors" half -o "$work/h2.npy"
same "$work/h.npy" "$work/h2.npy"
expect 3 pack "$work/w.npy" -o "$work/a.safetensors"
said err "only with --force"
expect 0 pack --force "$work/w.npy" half="$work/h.npy" "$work/i.npy" -o "$work/a.safetensors"
expect 1 pack "$work/w.npy" w="$work/h.npy" -o "$work/b.safetensors"
expect 2 pack -o "$work/b.safetensors"
expect 2 pack "$work/w.npy"

# ---- compare ----
expect 0 compare "$work/a.safetensors" "$work/a.safetensors"
said out "3 the same, 0 differ, 0 not compared"
# the sixth value of row 1 of w becomes 2.5, which is 0x40200000
cp "$work/a.safetensors" "$work/b.safetensors"
head=$(od -An -tu8 -N8 "$work/a.safetensors" | tr -d ' ')
printf '\000\000\040\100' |
    dd of="$work/b.safetensors" bs=1 seek=$((8 + head + 4 * 135)) conv=notrunc 2>/dev/null
expect 1 compare "$work/a.safetensors" "$work/b.safetensors"
narrow out
said out "2 the same, 1 differ, 0 not compared"
said out "first difference: w, row 1, column 5: "
said out " and 2.5"
expect 1 compare --json "$work/a.safetensors" "$work/b.safetensors"
said out '"name":"w","state":"compared","type_a":"F32","type_b":"F32","elements":260,"differ":1'
expect 1 compare --html "$work/page.html" "$work/a.safetensors" "$work/b.safetensors"
grep -q '<svg' "$work/page.html" || fail "no picture in the page"
expect 1 compare "$work/a.safetensors" "$full"
said out "w: only in $work/a.safetensors"
# as many elements in rows of another length are no difference of values
for shape in 2,3 3,2; do
    header="{\"w\":{\"dtype\":\"F32\",\"shape\":[$shape],\"data_offsets\":[0,24]}}"
    printf '\100\0\0\0\0\0\0\0%-64s%24s' "$header" "" >"$work/$shape.safetensors"
done
expect 1 compare "$work/2,3.safetensors" "$work/3,2.safetensors"
said out "w: shapes [2, 3] and [3, 2]"
expect 1 compare "$work/a.safetensors" "$data/ggml/a-bad-hole.safetensors"
expect 2 compare --html "$work/page.html" "$source/README.md" "$source/README.md"
finish
