#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_weights_lower.sh QUIPU SOURCE - quipu lower --linear, and parameter sets within an artifact.
quipu=$1
source=$2
. "$source/test/cli/weights.sh"
single=$data/ninfer/a-single.ninfer

# ---- a stored matrix as a graph, which runs ----
expect 0 lower --linear "$single:w/q4-absmax-tail1" -o "$work/w.whg1"
said out "130 channels in -128..127"
said out "the product times 2^24, exactly"
said out "acc64        yes"
expect 0 certify --profile acc64 "$work/w.whg1"
# a zero vector gives zero
{
    printf '\223NUMPY\001\000\166\000'
    printf '%-117s\n' "{'descr': '|i1', 'fortran_order': False, 'shape': (130, 1, 1), }"
    head -c 130 /dev/zero
} >"$work/x.npy"
expect 0 run "$work/w.whg1" "$work/x.npy" -o "$work/y.npy"
tail -c 16 "$work/y.npy" | od -An -v -tx1 | tr -d ' 0\n' | grep -q . && fail "zero gives no zero"
expect 0 lower --linear "$single:w/t2-import-tail" --input 0,255 --json
said out '"rows":2,"columns":129,"input":[0,255],"scale_bits":24'
expect 1 lower --linear "$single:w/q4-absmax-tail1" --input=-9223372036854775808,9223372036854775807
said err "node 1, conv"
expect 1 lower --linear "$single:w/nvfp4-stack"
said err "grouped-integer formats"
expect 1 lower --linear "$single:w/none"
expect 2 lower --linear "$source/nothing:w"
expect 2 lower --linear "$single:w/q4-absmax-tail1" --input 5
expect 2 lower --input 0,1 "$source/models/int_synth"

# ---- a parameter that is some rows of a tensor: the graph of a tensor of its own ----
bf16=$data/weights/stories260k-bf16.safetensors
echo '[{"assign":"layers.0.attention.w[qk].weight","format":"q5_g64_fp16"},
       {"assign":"tok_embeddings.weight","format":"q4_g64_fp16","rows":[0,8]}]' >"$work/alone.json"
group='["layers.0.attention.wq.weight","layers.0.attention.wk.weight"]'
sed "\$s/]\$/,{\"group\":$group}]/" "$work/alone.json" >"$work/group.json"
grep -q group "$work/group.json" || fail "the recipe of a group"
expect 0 convert --recipe "$work/alone.json" "$bf16" "$work/alone.ninfer"
expect 0 convert --recipe "$work/group.json" "$bf16" "$work/group.ninfer"
for name in q k; do
    parameter=layers.0.attention.w$name.weight
    expect 0 lower --linear "$work/alone.ninfer:$parameter" -o "$work/alone.whg1"
    expect 0 lower --linear "$work/group.ninfer:$parameter" -o "$work/group.whg1"
    said out "tensor       $parameter, q5_g64_fp16 ["
    same "$work/alone.whg1" "$work/group.whg1"
done
expect 1 lower --linear "$work/group.ninfer:tok_embeddings.weight"
said err "is not some rows of one tensor"

# ---- a set whose files are resources, and whose weights are tensors ----
expect 0 pack --set "$source/models/int_synth/int_synth.json" -o "$work/synth.ninfer"
expect 0 info "$work/synth.ninfer"
said out "int_synth.json/0  int32  [16, 48, 4, 4]"
expect 0 lower "$source/models/int_synth/int_synth.json" -o "$work/files"
cp "$work/out" "$work/wanted"
expect 0 lower "$work/synth.ninfer" -o "$work/artifact"
same "$work/out" "$work/wanted"
same "$work/files/synth.whg1" "$work/artifact/synth.whg1"
same "$work/files/certificate.json" "$work/artifact/certificate.json"
for set in int_hyper/q1 int_mlicpp audio_int_codec; do
    rm -f "$work/set.ninfer"
    expect 0 pack --set "$source/models/$set" -o "$work/set.ninfer"
    expect 0 lower "$source/models/$set"
    cp "$work/out" "$work/wanted"
    expect 0 lower "$work/set.ninfer"
    same "$work/out" "$work/wanted"
done
expect 3 pack --set "$source/models/int_mlicpp" -o "$work/set.ninfer"

# a set that is no set, and marks that lead nowhere
expect 1 lower "$single"
mkdir "$work/marked"
echo '{"layers":[{"weight":{"quipu.int32":"gone"}}]}' >"$work/marked/int_synth.json"
expect 0 pack --set "$work/marked/int_synth.json" -o "$work/marked.ninfer"
expect 1 lower "$work/marked.ninfer"
said err "there is no int32 list 'gone'"
finish
