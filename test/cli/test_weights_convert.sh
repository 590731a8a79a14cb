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
# the first pattern that matches wins, and vectors are no matrices
for pair in layers.0.attention.wq.weight=q6_g64_fp16 layers.0.feed_forward.w1.weight=q4_g64_fp16 \
    tok_embeddings.weight=q4_g64_fp16 norm.weight=bf16 layers.0.attention_norm.weight=bf16; do
    "$quipu" convert --plan --json --to "$preset" "$bf16" "$work/p.ninfer" |
        grep -F "\"parameter\":\"${pair%=*}\"" | grep -qF "\"format\":\"${pair#*=}\"" ||
        fail "the preset does not make ${pair%=*} ${pair#*=}"
done
expect 0 convert --plan --to 'q6_g64_fp16,fp32' "$bf16" "$work/p.ninfer"
said out "grouped_absmax  q6_g64_fp16"
said out "cast_direct     fp32"
expect 1 convert --to '*norm*=q4_g64_fp16' "$bf16" "$work/none.ninfer"
said err "*norm*"
said err "selects no matrix"
expect 1 convert --to gguf_q4_k "$bf16" "$work/none.gguf"
said err "gguf_q4_k fits no tensor: it stores rows of a multiple of 256 columns"
expect 1 compare "$bf16" "$work/q.ninfer"
said out "BF16 > q4_g64_fp16"
said out "0 not compared"
expect 0 extract "$work/q.ninfer" layers.0.attention.wq.weight -o "$work/x.npy"
expect 0 lower --linear "$work/q.ninfer:layers.0.attention.wq.weight"

# ---- several files ----
expect 0 convert --max-file-bytes 131072 "$bf16" "$work/s.ninfer"
[ -e "$work/s.ninfer.part-0001" ] || fail "no second file"
[ "$(digest "$work/s.ninfer")" = "$(digest "$bf16")" ] || fail "parts have other weights"
expect 0 convert --max-file-bytes 131072 "$bf16" "$work/m.ninfer"
expect 0 convert --force --max-file-bytes 131072 "$bf16" "$work/m.ninfer"
[ "$(wc -l <"$work/out")" -eq 1 ] || fail "parts that belong to the file are called left"
expect 0 convert --force --max-file-bytes 262144 "$bf16" "$work/m.ninfer"
said out "$work/m.ninfer.part-0004: belonged to what was replaced"
rm "$work/s.ninfer.part-0002"
expect 3 verify "$work/s.ninfer"
said err F-PARTMISSING

expect 0 convert --max-file-bytes 131072 "$bf16" "$work/h.safetensors"
said out "$work/h.safetensors.index.json: 520064 bytes"
[ ! -e "$work/h.safetensors" ] || fail "a file beside its shards"
shards=0
for file in "$work"/h-0000?-of-0000?.safetensors; do
    shards=$((shards + 1))
    [ "$(wc -c <"$file")" -le 131072 ] || fail "$file is too long"
    expect 0 verify "$file"
done
[ -e "$work/h-0000$shards-of-0000$shards.safetensors" ] || fail "shards of another number"
said_in() { grep -qF "$2" "$1" || fail "$1 does not say $2"; }
said_in "$work/h.safetensors.index.json" '"metadata":{"total_size":520064}'
said_in "$work/h.safetensors.index.json" '"norm.weight":"h-0000'
[ "$(digest "$work/h.safetensors.index.json")" = "$(digest "$bf16")" ] ||
    fail "shards have other weights"
expect 0 convert "$work/h.safetensors.index.json" "$work/i.safetensors.index.json"
[ -e "$work/i-00001-of-00001.safetensors" ] || fail "no shard of an index"
expect 0 verify "$work/i.safetensors.index.json"
expect 3 convert "$bf16" "$work/i.safetensors.index.json"
expect 3 convert --max-file-bytes 131072 "$bf16" "$work/h.safetensors" # the index is there
"$quipu" extract "$bf16" norm.weight -o "$work/n.npy"
expect 0 pack -o "$work/n.safetensors.index.json" "n=$work/n.npy"
[ -e "$work/n-00001-of-00001.safetensors" ] || fail "no shard of packed arrays"
expect 0 convert --max-file-bytes 9999999 "$bf16" "$work/k.safetensors"
expect 0 convert "$bf16" "$work/l.safetensors"
same "$work/k.safetensors" "$work/l.safetensors"
expect 1 convert --max-file-bytes 60000 "$bf16" "$work/none.safetensors"
said err "tok_embeddings.weight and its header do not fit in a file of 60000 bytes"
expect 1 convert --max-file-bytes 60000 "$bf16" "$work/none.gguf"
said err "a gguf file is one file"

# ---- importance ----
expect 1 convert --to q4_g64_fp16 --imatrix "$q4_0" "$bf16" "$work/none.ninfer"
said err "$q4_0: model_mismatch: this GGUF file holds no importance matrix"
expect 3 convert --to q4_g64_fp16 --imatrix "$work/no.gguf" "$bf16" "$work/none.ninfer"
said err "$work/no.gguf: io"
expect 1 convert --to q4_g64_fp16 --imatrix "$data/ggml/a-imatrix.gguf" "$bf16" "$work/none.ninfer"
said err "importance_names"
said err "knows none of the"

# ---- types that are not read ----
all=$data/weights/all-types.gguf
expect 0 verify "$all"
said out "; the words of 7 were not checked: their type is not read"
expect 0 verify --json "$all"
said out '"unchecked":7'
expect 1 compare --html "$work/all.html" "$all" "$all"
said out "w.q4_1: the type Q4_1 is not read"
said out "19 the same, 0 differ, 7 not compared"
said_in "$work/all.html" "a type that is not read"
expect 0 hash --tensor w.q4_0 "$all"
expect 1 hash --tensor w.q4_1 "$all"
expect 1 hash "$all"
said err "G-UNREADABLE"
expect 1 convert "$all" "$work/none.gguf"
said err "w.q4_1"

# ---- plans ----
expect 0 convert --plan --threads 1 --to "$preset" "$bf16" "$work/p.ninfer"
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
echo '[{"assign":{"selectors":["*feed_forward*"],"format":"q8_g32_fp16"}}]' >"$work/recipe.json"
expect 0 convert --recipe "$work/recipe.json" "$bf16" "$work/v.ninfer"
[ "$(digest "$work/t.ninfer")" = "$(digest "$work/v.ninfer")" ] || fail "an object's members"
echo '[{"assign":["*feed_forward*"],"format":' >"$work/recipe.json"
expect 1 convert --recipe "$work/recipe.json" "$bf16" "$work/u.ninfer"
said err "$work/recipe.json: malformed: line"

expect 0 convert --plan "$q4_0" "$work/a.ninfer" # which is there, and stays

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
