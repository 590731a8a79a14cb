#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_certify.sh QUIPU SOURCE - quipu certify and quipu info on the committed graphs, on graphs
# made here that fail, and on files that do not load.
set -u
quipu=$1
source=$2
graphs=$source/models
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

# le VALUE WIDTH - a little-endian integer of that many bytes.
le() {
    value=$1
    byte=0
    while [ "$byte" -lt "$2" ]; do
        printf "\\$(printf '%03o' $((value & 255)))"
        value=$((value >> 8))
        byte=$((byte + 1))
    done
}

# product LO HI - a graph of one operator, the square of its input.
product() {
    printf 'WHG1\001\001\000\000'
    le 2 4; le 1 4; le 1 2; le 1 2; le 0 2; le 0 2; le 1024 4; le 0 4
    le 0 4; le 0 4; le 0 4; le 0 4; le 0 4; le 0 4; le 0 8     # input: tensor 0, any size
    le 1 4                                                     # output: tensor 1
    le 1 4; le 128 1; le 2 1; le 0 2; le "$1" 8; le "$2" 8     # tensor 0: check
    le 1 4; le 128 1; le 0 1; le 0 2; le 0 8; le 0 8           # tensor 1: derived
    le 16 1; le 2 1; le 1 1; le 0 1; le 0 4; le 0 4; le 1 4    # mul 0 0 -> 1
    le 9 4; le 0 3; le 1 1; le 0 4; le 0 1                     # floor, shift 0
}

# ---- the certificate's bytes ---------------------------------------------------------------------

for name in superres-x3 superres-x3-acc32; do
    graph=$graphs/$name.whg1
    expect 0 certify "$graph"
    mv "$work/out" "$work/certificate"
    expect 0 certify -o "$work/file" "$graph"
    cmp -s "$work/certificate" "$work/file" || fail "$name: -o writes other bytes"
    [ "$(tail -c 2 "$work/file")" = '}}' ] || fail "$name: the certificate ends in something else"
    if command -v python3 >/dev/null && [ -f "$source/check/check.py" ]; then
        python3 "$source/check/check.py" --certify "$graph" >"$work/checked"
        cmp -s "$work/certificate" "$work/checked" || fail "$name: the checker's bytes differ"
    fi
    "$quipu" certify - <"$graph" | cmp -s - "$work/certificate" || fail "$name: standard input"
done
expect 0 certify --digest "$graphs/superres-x3.whg1"
said out d652a07dd21ed08d41f89e724683bfdb392a1cc5571046532df5b164df5d0857
expect 0 certify --digest "$graphs/superres-x3-acc32.whg1"
said out 7e6596a9fd04eaf9f94399debad609168509ac68b7f8c8a9eddf170458451087

# ---- profiles ------------------------------------------------------------------------------------

expect 0 certify --profile acc64 "$graphs/superres-x3.whg1"
[ -s "$work/out" ] && fail "--profile alone wrote something"
expect 0 certify --profile acc32 "$graphs/superres-x3-acc32.whg1"
expect 1 certify --profile acc32 "$graphs/superres-x3.whg1"
said err 'does not meet acc32: node 2, conv needs 35 bits for conv.acc'
said err '3 more than the 32 that acc32 has'
said err 'stays within -1094..1094'
expect 1 certify --profile=acc32 -o "$work/kept" "$graphs/superres-x3.whg1"
[ -s "$work/kept" ] || fail "-o with a profile that fails writes no certificate"

product -8 7 >"$work/small.whg1"
expect 0 certify --profile acc32 "$work/small.whg1"
product -1099511627776 1099511627776 >"$work/wide.whg1"
expect 1 certify --profile acc64 "$work/wide.whg1"
said err 'node 0, mul needs 82 bits for mul.p'
said err 'stays within -3037000499..3037000499'
expect 1 certify --profile acc32 "$work/wide.whg1"
said err 'input 0 needs 42 bits for range'
expect 0 certify "$work/wide.whg1"

# ---- admissible ranges ---------------------------------------------------------------------------

expect 0 certify --admissible 0 "$work/small.whg1"
said out 'acc32  -46340..46340'
said out 'acc64  -3037000499..3037000499'
expect 0 certify --admissible 1 --json "$work/small.whg1"
said out '"acc64":{"lo":"-9223372036854775808","hi":"9223372036854775807"}'
expect 0 certify --admissible 2 "$graphs/superres-x3.whg1"
said out 'acc32  -1094..1094'
expect 1 certify --admissible 10 "$graphs/superres-x3.whg1"
said err 'no tensor 10'

# ---- the page ------------------------------------------------------------------------------------

cp "$graphs/superres-x3.whg1" "$work/<b>&\"x'.whg1"
expect 0 certify --html "$work/<b>&\"x'.whg1"
said out '&lt;b&gt;&amp;&quot;x&#39;.whg1'
said out 'first to fail acc32'
said out 'class="verdict part"><b>does not meet acc32'
grep -qF '<b>&' "$work/out" && fail "a file's name stands in the page as it is"
grep -qE 'https?:|src=|@import|url\([^#]' "$work/out" && fail "the page fetches something"
[ "$(grep -c '<svg' "$work/out")" -eq 1 ] || fail "the page has no picture"
expect 0 certify --html "$work/wide.whg1"
said out 'does not meet acc64'
if command -v python3 >/dev/null; then
    python3 - "$work/out" <<'PYTHON' || fail "the page's elements do not nest"
import html.parser
import sys

VOID = {"meta", "br"}


class Nesting(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            sys.exit(f"</{tag}> closes nothing")


nesting = Nesting()
with open(sys.argv[1], encoding="utf-8") as page:
    nesting.feed(page.read())
unclosed = set(nesting.open) - {"p", "tr", "td", "th"}
sys.exit(f"not closed: {unclosed}" if unclosed else 0)
PYTHON
fi

# ---- info ----------------------------------------------------------------------------------------

expect 0 info "$graphs/superres-x3.whg1" "$graphs/superres-x3-acc32.whg1" "$work/wide.whg1"
said out 'WHG1 graph, 122380 bytes'
said out 'a324e5e598fe9b80668b5c68a642b0e6a290e3fc7146e478bc4bedbb1c8a1e28'
said out 'acc32   no: node 2, conv, needs 35 bits for conv.acc; acc32 has 32'
said out 'acc64   no: node 0, mul, needs 82 bits for mul.p; acc64 has 64'
said out 'flags   rq_shift_range'
long=$(awk 'length > 100 && !/^\// { print; exit }' "$work/out")
[ -z "$long" ] || fail "a line of info passes 100 columns: $long"
expect 0 info --json "$graphs/superres-x3.whg1" "$work/wide.whg1"
[ "$(wc -l <"$work/out")" -eq 2 ] || fail "info --json is not one line a file"
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert lines[0]["operators"][2]["widest"] == {
    "key": "conv.acc", "lo": "-12504909351", "hi": "14138102289", "bits": 35}
assert lines[0]["verdict"]["acc32_first_failure"]["index"] == 2
assert lines[1]["verdict"]["acc64"] is False' "$work/out" || fail "info --json says something else"
fi

# ---- refusals ------------------------------------------------------------------------------------

head -c 1000 "$graphs/superres-x3.whg1" >"$work/short.whg1"
expect 1 info "$work/short.whg1" "$graphs/superres-x3.whg1"
said err 'model_mismatch'
said err 'byte'
said out 'WHG1 graph, 122380 bytes'
expect 1 certify "$work/short.whg1"
expect 1 info "$source/LICENSE"
said err 'no kind of file that info knows'
: >"$work/empty"
expect 1 info "$work/empty"
expect 1 certify "$work/empty"
expect 3 info "$work/absent"
expect 3 certify "$work/absent"
expect 2 info
expect 2 info --colour "$graphs/superres-x3.whg1"
expect 2 certify
expect 2 certify --profile acc16 "$graphs/superres-x3.whg1"
expect 2 certify --admissible x "$graphs/superres-x3.whg1"
expect 2 certify --digest --html "$graphs/superres-x3.whg1"
expect 2 certify --json "$graphs/superres-x3.whg1"
expect 2 certify "$work/small.whg1" "$work/wide.whg1"
expect 0 certify --help
expect 0 info --help

[ "$failures" -eq 0 ]
