#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_upscale.sh QUIPU SOURCE - quipu upscale: one digest everywhere, its refusals, and that a
# refusal leaves nothing behind.
set -u
quipu=$1
prior=$2/test/data/codec/prior.wsr
models=$2/models
picture=$models/parrots-192x128.png
digest=2f0a57669d5ae9b3f830b743f11fd8a55efe5d41b04f0faa36a5fb266fce8f77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect STATUS ARGUMENT... - runs quipu upscale; its output is then in $work/out and $work/err.
expect() {
    wanted=$1
    shift
    "$quipu" upscale "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ "$got" -eq "$wanted" ] || fail "quipu upscale $*: exit status $got, not $wanted"
}

# said FILE WORDS - whether $work/FILE has the words.
said() {
    grep -qF -e "$2" "$work/$1" || fail "no '$2' in $1 of the last command"
}

if "$quipu" upscale --prior "$prior" --digest "$picture" 2>&1 | grep -q 'made without libpng'; then
    exit 0
fi

# ---- what it gives ----
expect 0 --prior "$prior" --digest -o "$work/large.png" "$picture"
said out "$digest"
[ -s "$work/large.png" ] || fail "no picture was written"
expect 0 --prior - --digest "$picture" <"$prior"
said out "$digest"
expect 0 --prior "$prior" --digest - <"$picture"
said out "$digest"
expect 0 --prior "$prior" -o - "$picture"
cmp "$work/out" "$work/large.png" || fail "standard output has another picture"
expect 0 --prior "$prior" --digest "$work/large.png" # what it wrote, again
expect 0 --help
said out 'example: quipu upscale'

# ---- refusals ----
expect 2
expect 2 --prior "$prior" "$picture"
expect 2 --digest "$picture"
expect 2 --prior "$prior" --digest "$picture" "$picture"
expect 2 --prior - --digest -
expect 2 --prior "$prior" --digest -o - "$picture"
expect 2 --prior "$prior" --digest --max-memory some "$picture"
expect 3 --prior "$work/none" --digest "$picture"
expect 3 --prior "$prior" --digest "$work/none"
expect 1 --prior "$prior" --max-memory 1000 -o "$work/none.png" "$picture"
said err too_large
expect 1 --prior "$picture" -o "$work/none.png" "$picture"
said err model_mismatch
expect 1 --prior "$models/superres-x3.whg1" -o "$work/none.png" "$picture"
said err 'no WSR1 prior'
head -c 50 "$prior" >"$work/short.wsr"
expect 1 --prior "$work/short.wsr" -o "$work/none.png" "$picture"
said err 'model_mismatch: short.wsr: layer 0'
expect 1 --prior "$prior" -o "$work/none.png" "$prior"
[ ! -e "$work/none.png" ] || fail "a refusal left a picture"

[ "$failures" -eq 0 ]
