#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the command for another machine and runs the conformance vectors there, under emulation;
# the certificates of the models, and the pictures of the golden payloads, must have the digests
# that this machine's command gives.
#   scripts/cross.sh aarch64|armhf|riscv64|s390x|wasm32|host BUILD_DIR NATIVE_QUIPU
# `host` is this machine by clang with all that its processor has, fused multiply-adds too.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
machine=$1
build=$2
native=$3

linux_build() { # compiler, processor
    cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DQP_WERROR=ON \
        -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$2" -DCMAKE_C_COMPILER="$1" \
        -DQP_BUILD_SHARED=OFF -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON \
        -DCMAKE_EXE_LINKER_FLAGS=-static >"$build.log" 2>&1 &&
        cmake --build "$build" --target quipu_cli >>"$build.log" 2>&1 ||
        { cat "$build.log"; exit 1; }
}

wasm_build() {
    cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DQP_WERROR=ON \
        -DCMAKE_SYSTEM_NAME=Generic -DCMAKE_SYSTEM_PROCESSOR=wasm32 -DCMAKE_C_COMPILER=clang \
        -DCMAKE_C_COMPILER_TARGET=wasm32-wasi -DCMAKE_AR=/usr/bin/llvm-ar-14 \
        -DCMAKE_RANLIB=/usr/bin/llvm-ranlib-14 -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY \
        -DQP_BUILD_SHARED=OFF -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON >"$build.log" 2>&1 &&
        cmake --build "$build" --target quipu_cli >>"$build.log" 2>&1 ||
        { cat "$build.log"; exit 1; }
}

mkdir -p "$(dirname "$build")"
case $machine in
aarch64)
    linux_build aarch64-linux-gnu-gcc aarch64
    run="qemu-aarch64 $build/quipu"
    ;;
armhf)
    linux_build arm-linux-gnueabihf-gcc arm
    run="qemu-arm $build/quipu"
    ;;
riscv64)
    linux_build riscv64-linux-gnu-gcc riscv64
    run="qemu-riscv64 $build/quipu"
    ;;
s390x)
    linux_build s390x-linux-gnu-gcc s390x
    run="qemu-s390x $build/quipu"
    ;;
host)
    export CFLAGS=-march=native
    linux_build clang "$(uname -m)"
    run=$build/quipu
    ;;
wasm32)
    wasm_build
    node="node --no-warnings --experimental-wasi-unstable-preview1"
    run="$node $source/scripts/wasi.mjs $build/quipu"
    ;;
*)
    echo "cross.sh: no machine $machine" >&2
    exit 2
    ;;
esac

cd "$source"
# the vectors of graphs, then the cases of weight formats: words, methods, blocks, containers
for corpus in conformance test/data/ninfer/index.json test/data/ggml/index.json; do
    # shellcheck disable=SC2086
    $run conform "$corpus"
done
for model in models/*.whg1; do
    # shellcheck disable=SC2086
    theirs=$($run certify --digest "$model")
    ours=$("$native" certify --digest "$model")
    [ "$theirs" = "$ours" ] || { echo "$model: $machine gives $theirs, not $ours"; exit 1; }
done
for file in test/data/codec/*/*.qp; do
    set_folder=$(dirname "$file")
    # shellcheck disable=SC2086
    theirs=$($run decode --set "$set_folder" --digest "$file")
    ours=$("$native" decode --set "$set_folder" --digest "$file")
    [ "$theirs" = "$ours" ] || { echo "$file: $machine gives $theirs, not $ours"; exit 1; }
done

# the encoders' bytes: a video whose first frame is a neural picture, by the built-in model
"$native" decode -o "$build.y4m" test/data/codec/motion/half-pel.qp
encode="encode --capability wai.video.int_hyper --quality 1 -o - -"
# shellcheck disable=SC2086
"$native" $encode <"$build.y4m" >"$build.ours"
# shellcheck disable=SC2086
$run $encode <"$build.y4m" >"$build.theirs"
cmp "$build.ours" "$build.theirs" || { echo "$machine encodes other bytes"; exit 1; }

# and the words that each method finds for real weights
weights=test/data/gguf-vectors/source.f32
encode_weights() { # command, format, method
    shape=32,256
    [ "$2" != nvfp4 ] || shape=128,64
    # shellcheck disable=SC2086
    cat "$weights" "$weights" | $1 tensor encode --format "$2" --method "$3" --shape $shape - -
}
while read -r format methods; do
    for method in $methods; do
        encode_weights "$native" "$format" "$method" >"$build.ours"
        encode_weights "$run" "$format" "$method" >"$build.theirs"
        cmp "$build.ours" "$build.theirs" || { echo "$machine: $format by $method"; exit 1; }
    done
done <<END
bf16 cast_direct
q4_g64_fp16 grouped_absmax grouped_search
q5_g64_fp16 grouped_absmax grouped_search
q6_g64_fp16 grouped_absmax grouped_search
q8_g32_fp16 grouped_absmax grouped_search
t2_g128_fp16 grouped_absmax grouped_search
nvfp4 nvfp4_absmax nvfp4_search
fp8_e4m3fn_row_bf16 fp8_row_maxabs
fp8_e4m3fn_row_fp16 fp8_row_maxabs
gguf_q8_0 gguf_search
gguf_q4_0 gguf_search
gguf_q5_0 gguf_search
gguf_q4_k gguf_search
gguf_q5_k gguf_search
gguf_q6_k gguf_search
gguf_iq4_nl gguf_search
gguf_iq4_xs gguf_search
END
echo "goldens decode, and a video and weights encode, to the same bytes"
