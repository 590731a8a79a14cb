#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the conformance vectors anew and holds them against the committed ones, byte for byte.
#   scripts/vectors_fresh.sh QUIPU WORK_DIR
set -eu
cd "$(dirname "$0")/.."
rm -rf "$2"
mkdir -p "$2"
"$1" vectors "$2"
diff -r --exclude=README.md conformance "$2"
echo "conformance/ is what this build writes"
