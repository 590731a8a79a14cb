#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_weights_conform.sh QUIPU SOURCE - quipu conform on indexes of weight vectors: both of the
# repository pass, and an index that was changed fails with the case that says why.
quipu=$1
source=$2
. "$source/test/cli/weights.sh"

expect 0 conform "$data/ninfer/index.json"
said out "251 passed, 0 failed"
expect 0 conform "$data/ggml/index.json"
said out "82 passed, 0 failed"
expect 0 conform --json "$data/ggml/index.json"
said out '{"failures":[],"passed":82,"failed":0,"skipped":0}'

# ---- a changed index: each change fails one case, which is named ----
copy=$work/copy
mkdir "$copy"
cp "$data"/ninfer/* "$copy"

# change NAME SED ID WORDS [PASSED] - changes the index by a sed script; ID must fail with WORDS.
change() {
    sed "$2" "$data/ninfer/index.json" >"$copy/index.json"
    cmp -s "$data/ninfer/index.json" "$copy/index.json" && fail "$1: nothing was changed"
    expect 1 conform "$copy/index.json"
    said out "$3"
    said out "$4"
    said out "${5:-250} passed, 1 failed"
}
change "another digest" \
    's/9e3ddd48f508e8c81e7a1ca06d0c6f986edfffdf32923354f66c173fdfb801ba/00/' \
    a-q4-absmax-tail0 "a-q4-absmax-tail0.in.bin: its sha256 is"
change "another refusal" 's/"refusal": *"int32_range"/"refusal": "code_invalid"/' \
    a-int32-cast-range "refused with int32_range, not with code_invalid"
change "a file elsewhere" 's/"a-bf16-words.words.bin"/"..\/ninfer\/a-bf16-words.words.bin"/' \
    a-bf16-words "is no file of the index's folder"
change "a sentence without a meaning" \
    's/"mutation": *"last byte of a-sharded.ninfer.part-0002 removed"/"mutation": "every byte"/' \
    "last byte of a-sharded.ninfer.part-0002 removed" "'every byte' is not understood"
change "another size" 's/"bytes": *162000/"bytes": 162001/' encoded_sizes "162000 bytes, not 162001"
change "a section that nobody knows" 's/"encoded_sizes":/"encoded_others":/' index \
    "a section that conform does not know" 209

# members that are not there
for member in shape files inputs format encoded; do
    awk -v member="\"$member\":" '$1 == member && !done { sub(member, "\"gone\":"); done = 1 } 1' \
        "$data/ninfer/index.json" >"$copy/index.json"
    expect 1 conform "$copy/index.json"
    said out "250 passed, 1 failed"
done

# ---- a missing file, and no index at all ----
cp "$data/ninfer/index.json" "$copy"
rm "$copy/a-fp32-scalar.enc.bin"
expect 1 conform "$copy/index.json"
said out "cannot open"
echo '{"index_version": 2}' >"$copy/index.json"
expect 1 conform "$copy/index.json"
said out "the index's version is not 1"
finish
