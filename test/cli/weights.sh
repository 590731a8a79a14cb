# SPDX-License-Identifier: Apache-2.0
# weights.sh - what the tests of the weight verbs share; each sets $quipu and $source first.
set -u
data=$source/test/data
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

# same FILE FILE - whether two files have the same bytes.
same() {
    cmp -s "$1" "$2" || fail "$1 and $2 differ"
}

# narrow FILE - whether no line passes 100 columns.
narrow() {
    awk 'length($0) > 100 { exit 1 }' "$work/$1" || fail "a line of $1 passes 100 columns"
}

finish() {
    [ "$failures" -eq 0 ] || echo "$failures failures"
    exit "$((failures > 0))"
}
