#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_lower.sh QUIPU SOURCE - quipu lower on the small sets of the conformance corpus: what it
# writes and prints, its refusals, and that a refusal leaves nothing behind.
set -u
quipu=$1
corpus=$2/conformance/certificates
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect STATUS ARGUMENT... - runs quipu; its output is then in $work/out and $work/err.
expect() {
    wanted=$1
    shift
    "$quipu" "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ "$got" -eq "$wanted" ] || fail "quipu $*: exit status $got, not $wanted"
}

# said FILE WORDS - whether $work/FILE has the words.
said() {
    grep -qF -e "$2" "$work/$1" || fail "no '$2' in $1 of the last command"
}

# ---- every set of the corpus: the graphs and the certificate to the byte ----
for certificate in "$corpus"/wai.*/*.json; do
    place=${certificate%.json}
    capability=$(basename "$(dirname "$certificate")")
    rm -rf "$work/graphs"
    if grep -qF '"acc64":false' "$certificate"; then
        expect 1 lower --capability "$capability" -o "$work/graphs" "$place/set"
        said err "does not meet acc64"
        [ ! -e "$work/graphs" ] || fail "$place: a refused set left a directory"
        continue
    fi
    expect 0 lower --capability "$capability" -o "$work/graphs" "$place/set"
    said out "$(basename "$place")"
    cmp "$certificate" "$work/graphs/certificate.json" || fail "$place: the certificate"
    for graph in "$place"/*.whg1; do
        cmp "$graph" "$work/graphs/$(basename "$graph")" || fail "$graph"
    done
    if [ -e "$place/pin.json" ]; then
        weak=0
        grep -qF '"ops_profile":"acc32"' "$place/pin.json" &&
            grep -qF '"acc32":false' "$certificate" && weak=1
        expect $weak lower --pin "$place/pin.json" "$place/set"
    fi
done

# ---- other ways in and out ----
synth=$corpus/wai.neural.int_synth
for set in "$synth"/*/set/int_synth.json; do
    break
done
expect 0 lower --capability wai.neural.int_synth --json - <"$set"
said out '"lowering":"int_synth/1"'
expect 0 lower "$2/models/superres-x3.whg1"
said out 'superres-x3 '
said out 'whg1'
mkdir "$work/kept"
expect 0 lower -o "$work/kept" "$set"
[ -s "$work/kept/synth.whg1" ] || fail "nothing written to a directory that was there"

# ---- refusals ----
expect 2 lower
expect 2 lower a b
expect 2 lower --no-such-option a
expect 3 lower "$work/no-such-file"
expect 1 lower --capability no.such "$set"
said err 'no.such'
printf '{"layers":[]}' >"$work/none.json"
expect 1 lower -o "$work/none" "$work/none.json"
said err 'payload_malformed: none.json: line 1, column 11'
[ ! -e "$work/none" ] || fail "a refused set left a directory"
mkdir "$work/empty"
expect 1 lower "$work/empty"
said err 'model_mismatch'
expect 1 lower --pin "$set" "$set"
expect 3 lower -o "$work/none.json" "$set"

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))
