#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_weights_pipe.sh QUIPU SOURCE - weights through pipes, and conversions that are stopped: what
# comes out is whole or nothing, and nothing is left beside it or among the temporary files.
quipu=$1
source=$2
. "$source/test/cli/weights.sh"
bf16=$data/weights/stories260k-bf16.safetensors
TMPDIR=$work/temporary
export TMPDIR
mkdir "$TMPDIR"
cd "$work" || exit 1

# ---- standard input and output ----
expect 0 convert --to q4_g64_fp16 "$bf16" "$work/a.ninfer"
expect 0 convert --container ninfer --to q4_g64_fp16 "$bf16" -
same "$work/out" "$work/a.ninfer"
[ ! -s "$work/err" ] || fail "a conversion to a pipe speaks"
expect 0 convert "$bf16" "$work/a.gguf"
"$quipu" convert --container gguf - - <"$bf16" | cmp -s - "$work/a.gguf" || fail "from pipe to pipe"
"$quipu" convert --container safetensors "$work/a.gguf" - | "$quipu" verify - >/dev/null ||
    fail "what goes through a pipe is not sound"
"$quipu" convert --container gguf "$bf16" - | head -c 4 >/dev/null
expect 2 convert "$bf16" -
said err "--container"
expect 2 convert --container ninfer --max-file-bytes 100000 "$bf16" -
expect 0 convert --plan --container gguf "$bf16" -
said out "520064 bytes become a file of"
if [ -w /dev/full ]; then
    "$quipu" convert --container gguf "$bf16" - >/dev/full 2>"$work/err"
    [ $? -eq 3 ] || fail "a full device"
    said err "standard output"
fi
TMPDIR=$work/none
expect 3 convert --container gguf "$bf16" -
said err "temporary folder"
TMPDIR=$work/temporary
[ ! -e "$work/-" ] || fail "a file named - was made"
[ -z "$(ls "$TMPDIR")" ] || fail "a temporary file was left"

# ---- stopped ----
# 32 MiB of zeros, worked on slowly enough to be met at it; whether it is makes no difference below
printf '\120\0\0\0\0\0\0\0%-80s' \
    '{"w":{"dtype":"F32","shape":[2048,4096],"data_offsets":[0,33554432]}}' >"$work/z.safetensors"
dd if=/dev/zero of="$work/z.safetensors" bs=1 count=0 seek=33554520 2>/dev/null
expect 0 verify "$work/z.safetensors"
for more in "" "--max-file-bytes 1000000"; do
    # shellcheck disable=SC2086
    "$quipu" convert --quiet --cpu none $more --to q4_g64_fp16 "$work/z.safetensors" \
        "$work/z.ninfer" 2>"$work/err" &
    process=$!
    while [ ! -e "$work/z.ninfer.quipu-0" ] && [ ! -e "$work/z.ninfer" ]; do :; done
    kill -TERM "$process" 2>/dev/null
    wait "$process"
    code=$?
    case $code in
    0) expect 0 verify "$work/z.ninfer" ;;
    143) [ ! -e "$work/z.ninfer" ] || expect 0 verify "$work/z.ninfer" ;;
    *) fail "a stopped conversion has the exit status $code" ;;
    esac
    [ -z "$(find "$work" -name '*quipu-*')" ] || fail "a stopped conversion left a file"
    rm -f "$work"/z.ninfer*
done

# ---- what would change nothing, and whose fault it is ----
expect 1 convert --imatrix "$data/ggml/a-imatrix.gguf" "$bf16" "$work/n.ninfer"
said err "--imatrix would change nothing"
echo '[{"assign":"*","format":"fp32"}]' >"$work/recipe.json"
expect 1 convert --recipe "$work/recipe.json" "$data/weights/all-types.gguf" "$work/n.ninfer"
said err "all-types.gguf: model_mismatch: w.q4_1"
printf '\2\0\0\0\0\0\0\0 {}' >"$work/blank.safetensors"
expect 1 info "$work/blank.safetensors"
said err S-JSON
finish
