#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_weights_tensor.sh QUIPU SOURCE - quipu tensor, extract and formats: raw bytes of one tensor
# against the fixtures, and the ways in and out of words.
quipu=$1
source=$2
. "$source/test/cli/weights.sh"
fixtures=$data/ninfer

# values FORMAT SHAPE FIXTURE ARGUMENT... - encodes a fixture's input, decodes what came of it.
values() {
    format=$1
    shape=$2
    fixture=$fixtures/$3
    shift 3
    expect 0 tensor encode --format "$format" --shape "$shape" "$@" "$fixture.in.bin" "$work/enc"
    same "$work/enc" "$fixture.enc.bin"
    expect 0 tensor decode --format "$format" --shape "$shape" "$work/enc" "$work/dec"
    [ ! -e "$fixture.dec.f32" ] || same "$work/dec" "$fixture.dec.f32"
}
values q4_g64_fp16 3,65 a-q4-absmax-tail0
values q5_g64_fp16 3,127 a-q5-absmax-tail1 --method grouped_absmax
values q6_g64_fp16 3,130 a-q6-search-imp --method grouped_search --negative-scales \
    --importance "$fixtures/a-q6-search-imp.importance.bin"
values t2_g128_fp16 3,130 a-t2-search-plain --method grouped_search
values fp8_e4m3fn_row_bf16 5,77 a-fp8bf16-rand
values fp8_e4m3fn_row_fp16 5,77 a-fp8fp16-rand --layout row_interleaved_v1
values bf16 96 a-bf16-cast
values int32 40 a-int32-cast

# words: out of the stored bytes and in again
expect 0 tensor decode --words --format nvfp4 --divisors 2 --shape 256,64 \
    "$fixtures/a-nvfp4-stack.enc.bin" "$work/words"
cat "$fixtures"/a-nvfp4-stack.codes.bin "$fixtures"/a-nvfp4-stack.scales.bin \
    "$fixtures"/a-nvfp4-stack.divisors.bin >"$work/wanted"
same "$work/words" "$work/wanted"
expect 0 tensor encode --words --format nvfp4 --divisors 2 --shape 256,64 "$work/words" "$work/enc"
same "$work/enc" "$fixtures/a-nvfp4-stack.enc.bin"
expect 0 tensor encode --words --format fp32 --shape "" "$fixtures/a-fp32-scalar.words.bin" -
same "$work/out" "$fixtures/a-fp32-scalar.enc.bin"
expect 0 tensor encode --format fp32 --shape 7 - "$work/enc" <"$fixtures/a-fp32-words.words.bin"
same "$work/enc" "$fixtures/a-fp32-words.enc.bin"

# refusals, with the text's name of the check and the place
expect 1 tensor encode --format q4_g64_fp16 --shape 2,131 \
    "$fixtures/a-q4-absmax-nonfinite.in.bin" "$work/none"
said err "source_not_finite, row"
[ ! -e "$work/none" ] || fail "a refused tensor left a file"
cat "$fixtures"/a-fp8bf16-bad-nan7f.codes.bin "$fixtures"/a-fp8bf16-bad-nan7f.scales.bin \
    >"$work/bad"
expect 1 tensor encode --words --format fp8_e4m3fn_row_bf16 --shape 3,20 "$work/bad" "$work/none"
said err "code_invalid, row"
expect 1 tensor encode --format q3_g64_fp16 --shape 2,64 /dev/null "$work/none"
said err "there is no format 'q3_g64_fp16'"
expect 1 tensor encode --format q4_g64_fp16 --layout row_scale_v1 --shape 2,64 /dev/null \
    "$work/none"
said err C-GEOM
expect 1 tensor encode --format q4_g64_fp16 --shape 2,64 /dev/null "$work/none"
said err "0 bytes are given, 512 are needed"
expect 1 tensor decode --format q4_g64_fp16 --shape 3,65 /dev/null "$work/none"
said err C-SIZE
expect 1 tensor encode --format gguf_iq1_m --shape 1,256 /dev/null "$work/none"
expect 2 tensor transcode
expect 2 tensor encode --format q4_g64_fp16 /dev/null "$work/none"

# padding that is not zero is a fault of the stored bytes
head -c 200 "$fixtures/a-q4-absmax-tail2.enc.bin" >"$work/bad"
printf '\001' >>"$work/bad"
tail -c +202 "$fixtures/a-q4-absmax-tail2.enc.bin" >>"$work/bad"
expect 1 tensor decode --format q4_g64_fp16 --shape 1,1 "$work/bad" "$work/none"

# ---- extract ----
artifact=$fixtures/a-single.ninfer
expect 0 extract "$artifact" w/q4-absmax-tail1 -o "$work/x.npy"
tail -c 1040 "$work/x.npy" >"$work/values"
same "$work/values" "$fixtures/a-q4-absmax-tail1.dec.f32"
head -c 128 "$work/x.npy" | grep -qF "'descr': '<f4', 'fortran_order': False, 'shape': (2, 130)" ||
    fail "the head of x.npy"
expect 0 extract --words "$artifact" w/nvfp4-stack -o "$work/n.npy"
tail -c 8192 "$work/n.npy" >"$work/codes"
same "$work/codes" "$fixtures/a-nvfp4-stack.codes.bin"
tail -c 1024 "$work/n.scales.npy" >"$work/scales"
same "$work/scales" "$fixtures/a-nvfp4-stack.scales.bin"
tail -c 8 "$work/n.divisors.npy" >"$work/divisors"
same "$work/divisors" "$fixtures/a-nvfp4-stack.divisors.bin"
expect 0 extract --words "$artifact" w/bf16-words -o -
tail -c 60 "$work/out" >"$work/words"
same "$work/words" "$fixtures/a-bf16-words.words.bin"
expect 1 extract --words "$artifact" w/nvfp4-stack -o -
said err "codes and scales are files of their own"
expect 1 extract "$artifact" w/nothing -o "$work/none"
said err "there is no tensor 'w/nothing'"
expect 0 extract "$data/ggml/a-full.gguf" experts.weight -o "$work/e.npy"
head -c 128 "$work/e.npy" | grep -qF "(3, 2, 32)" || fail "the shape of a bank of experts"
expect 2 extract "$artifact"

# ---- formats ----
expect 0 formats
narrow out
said out "q4_g64_fp16"
said out "block_scale_k16_m128x4_v1"
said out "grouped_search"
said out ".safetensors"
expect 0 formats --json
said out '"name":"gguf_iq4_xs"'
expect 0 formats --markdown formats
said out "| bf16 | direct | 16 | 1 | contiguous_le_v1 |"
expect 2 formats shapes
finish
