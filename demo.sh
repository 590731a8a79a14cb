#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what quipu needs on Debian 12, builds it, certifies a real network and runs it on a real
# photograph. The picture, three times as large, is demo.png.
set -eu
cd "$(dirname "$0")"
. scripts/packages.sh

install_packages $BUILD_PACKAGES

build() {
    cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release && cmake --build build
}
mkdir -p build
build >build/demo.log 2>&1 || { cat build/demo.log; exit 1; }

graph=models/superres-x3.whg1
photograph=models/parrots-192x128.png
expected=b016b20a210e78d56a9c15ae99a6f10e1095d83e124e3e089e55c9d4e762bcc4

echo "== $graph: which accumulators hold every sum it can form?"
build/quipu certify "$graph" --profile acc64
build/quipu info "$graph" | sed -n '/^verdict/,$p'

echo "== $photograph, three times as large"
build/quipu run "$graph" "$photograph" -o demo.png --digest --time | tee build/demo.digest
if grep -q "$expected" build/demo.digest; then
    echo "demo.png is written; the SHA-256 of its samples is the one that models/README.md gives"
else
    echo "demo.sh: the digest is not $expected" >&2
    exit 1
fi

echo "== the photograph through the built-in picture codec, and back"
build/quipu encode "$photograph" -o build/demo.qp --quality 3
build/quipu decode build/demo.qp -o build/demo-decoded.png --digest
