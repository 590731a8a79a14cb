#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_golden.sh QUIPU SOURCE - the golden payloads of sound, splats, sliced pictures and
# conditional video as .qp files, each decoded through the set beside it to its payload's digest.
set -u
quipu=$1
data=$2/test/data/codec
failures=0

# golden FOLDER FILE PAYLOAD - FILE.qp of the folder holds that payload
golden() {
    found=$("$quipu" decode --set "$data/$1" --digest "$data/$1/$2.qp")
    if [ "$found" != "$(cat "$data/$3.sha256")" ]; then
        echo "FAILED: $1/$2.qp decodes to $found"
        failures=$((failures + 1))
    fi
}

golden audio_int_codec sound sound.wia
golden audio_int_codec analysed analysed.wia
golden splat_int_codec splats splats.wis
golden int_mlicpp picture picture.wim
golden int_cond video video.wic
golden int_cond frame frame.wcf

# sound through the command: a WAV file in, its length and rate out
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
set_folder=$data/audio_int_codec
"$quipu" decode --set "$set_folder" -o "$work/a.wav" "$set_folder/analysed.qp" &&
    "$quipu" encode --set "$set_folder" -o "$work/a.qp" "$work/a.wav" >/dev/null &&
    "$quipu" decode --set "$set_folder" -o "$work/b.wav" "$work/a.qp" || failures=$((failures + 1))
[ "$(wc -c <"$work/a.wav")" -eq "$(wc -c <"$work/b.wav")" ] || {
    echo "FAILED: a WAV file changed its length"
    failures=$((failures + 1))
}
"$quipu" encode -o "$work/c.qp" "$work/a.wav" 2>/dev/null
[ $? -eq 2 ] || {
    echo "FAILED: sound without a set is wrong usage"
    failures=$((failures + 1))
}
[ "$failures" -eq 0 ]
