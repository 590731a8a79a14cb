#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_weights_convert.sh QUIPU SOURCE - quipu convert, verify and hash: from file to file and back,
# what changes no byte, what is refused and leaves nothing, and faults that verify finds.
quipu=$1
source=$2
. "$source/test/cli/weights.sh"
bf16=$data/weights/stories260k-bf16.safetensors
q4_0=$data/weights/stories260k-q4_0.gguf

# digest FILE - the digest of all weights.
digest() {
    "$quipu" hash "$1" | cut -d' ' -f1
}

# ---- there and back: not a word changes ----
expect 0 convert "$q4_0" "$work/a.ninfer"
said out verified
[ ! -s "$work/err" ] || fail "progress in a pipe"
expect 0 verify "$work/a.ninfer"
said out "sound: 47 tensors, 260032 weights"
expect 0 convert "$work/a.ninfer" "$work/a.gguf"
expect 0 verify --quiet "$work/a.gguf"
[ ! -s "$work/out" ] || fail "verify --quiet says something"
for file in "$work/a.ninfer" "$work/a.gguf"; do
    [ "$(digest "$file")" = "$(digest "$q4_0")" ] || fail "$file has other weights"
done
expect 0 compare "$q4_0" "$work/a.ninfer"
expect 0 convert "$bf16" "$work/b.ninfer"
expect 0 convert "$work/b.ninfer" "$work/b.safetensors"
[ "$(digest "$work/b.safetensors")" = "$(digest "$bf16")" ] || fail "bf16 has other weights"

# ---- other formats: threads, chunks and processor change no byte ----
preset='*attention*=q6_g64_fp16,*=q4_g64_fp16'
expect 0 convert --to "$preset" "$bf16" "$work/q.ninfer"
expect 0 convert --to "$preset" --threads 3 --rows-per-chunk 5 --cpu none "$bf16" "$work/r.ninfer"
same "$work/q.ninfer" "$work/r.ninfer"
expect 0 info "$work/q.ninfer"
narrow out
said out "q6_g64_fp16"
expect 1 compare "$bf16" "$work/q.ninfer"
said out "BF16 > q4_g64_fp16"
said out "0 not compared"
expect 0 extract "$work/q.ninfer" layers.0.attention.wq.weight -o "$work/x.npy"
expect 0 lower --linear "$work/q.ninfer:layers.0.attention.wq.weight"

# ---- several files ----
expect 0 convert --max-file-bytes 131072 "$bf16" "$work/s.ninfer"
[ -e "$work/s.ninfer.part-0001" ] || fail "no second file"
[ "$(digest "$work/s.ninfer")" = "$(digest "$bf16")" ] || fail "parts have other weights"
rm "$work/s.ninfer.part-0002"
expect 3 verify "$work/s.ninfer"
said err F-PARTMISSING

# ---- plans ----
expect 0 convert --plan --to "$preset" "$bf16" "$work/p.ninfer"
narrow out
said out "layers.0.attention.wq.weight"
said out "grouped_absmax"
said out "520064 bytes become a file of"
said out "of computing with 1 thread"
[ ! -e "$work/p.ninfer" ] || fail "a plan wrote a file"
expect 0 convert --plan --json "$q4_0" "$work/p.ninfer"
said out '"method":"import_encoded","format":"gguf_q4_0"'

# ---- recipes ----
echo '[{"assign":["*feed_forward*"],"format":"q8_g32_fp16"}]' >"$work/recipe.json"
expect 0 convert --recipe "$work/recipe.json" "$bf16" "$work/t.ninfer"
expect 0 info "$work/t.ninfer"
said out q8_g32_fp16
echo '[{"assign":["*feed_forward*"],"format":' >"$work/recipe.json"
expect 1 convert --recipe "$work/recipe.json" "$bf16" "$work/u.ninfer"
said err "$work/recipe.json: malformed: line"

# ---- refusals leave nothing ----
expect 3 convert "$q4_0" "$work/a.ninfer"
said err "only with --force"
expect 0 convert --force "$q4_0" "$work/a.ninfer"
expect 1 convert "$work/q.ninfer" "$work/none.gguf"
said err "cannot hold q"
expect 1 convert --to q3_g64_fp16 "$bf16" "$work/none.ninfer"
expect 1 convert "$bf16" "$work/none.bin"
expect 1 convert "$data/ggml/a-bad-dups.gguf" "$work/none.ninfer"
expect 2 convert --cpu mmx "$bf16" "$work/none.ninfer"
expect 2 convert --threads 0 "$bf16" "$work/none.ninfer"
expect 2 convert --to bf16 --recipe x "$bf16" "$work/none.ninfer"
expect 2 convert "$bf16"
[ -z "$(find "$work" -name 'none*')" ] || fail "a refused conversion left a file"
[ -z "$(find "$work" -name '*quipu-*')" ] || fail "a file beside its target was left"

# ---- verify finds a scale, and says where ----
# w/q4-absmax-tail1 is [2, 130], its payload from 8192 + 256 on, its scales 256 behind: the second
# group of row 1 gets an infinite scale
cp "$data/ninfer/a-single.ninfer" "$work/bad.ninfer"
start=$(($(wc -c <"$work/bad.ninfer") - 15376))
printf '\000\174' |
    dd of="$work/bad.ninfer" bs=1 seek=$((start + 256 + 256 + 2 * 5)) conv=notrunc 2>/dev/null
expect 1 verify "$work/bad.ninfer"
said err "scale_invalid, row 1, column 64"
expect 1 verify --json "$work/bad.ninfer"
said out '"sound":false,"code":"field_range","check":"scale_invalid","row":1,"column":64'
expect 1 verify "$data/ggml/a-bad-hole.safetensors" "$data/ggml/a-good.safetensors"
said out "a-good.safetensors: sound"

# ---- digests, formed apart from the library ----
if command -v sha256sum >/dev/null; then
    wanted=$({
        printf 'bf16\000\003\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000'
        printf '\003\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000'
        cat "$data/ninfer/a-bf16-words.words.bin"
    } | sha256sum | cut -d' ' -f1)
    [ "$("$quipu" hash --tensor w/bf16-words "$data/ninfer/a-single.ninfer" | cut -d' ' -f1)" = \
        "$wanted" ] || fail "the digest of w/bf16-words"
fi
expect 0 hash --all --threads 2 "$q4_0"
said out "  blk.0.attn_q.weight"
expect 0 hash --json "$q4_0"
said out '"tensors":{"blk.0.attn_k.weight":"'
expect 1 hash --tensor none "$q4_0"
expect 2 hash
finish
