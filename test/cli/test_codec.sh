#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_codec.sh - encode, decode and set as their users run them: test_codec.sh QUIPU SOURCE
set -u
quipu=$1
data=$2/test/data/codec/int_hyper
picture=$2/models/parrots-192x128.png
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0

# expect CODE TEXT COMMAND...: the exit code, and a part of what is said
expect() {
    code=$1 text=$2
    shift 2
    said=$("$@" 2>&1)
    got=$?
    case $said in
    *"$text"*) ;;
    *) got="$got, and said: $said" ;;
    esac
    if [ "$got" != "$code" ]; then
        echo "$*: $got"
        faults=$((faults + 1))
    fi
}

photo=51b74b833f089b2dd55728af00a9ad889591e79a20b4e7787aaf21255acdc852
set=7781db25c46963bfcd00dea0a45270efdbfad5dd144f3e1a437958a1d08745a1

# a file decodes to its digest; a reader without the set is told which one it needs
expect 0 $photo "$quipu" decode --set "$data" --digest "$data/photo.qp"
expect 1 "model_mismatch: it needs the set $set" "$quipu" decode --digest "$data/photo.qp"
expect 2 "is missing" "$quipu" decode
expect 2 "only one thing" "$quipu" decode --digest -o - "$data/photo.qp"
expect 3 "io" "$quipu" decode --digest "$work/none.qp"

# pins
expect 0 "" "$quipu" set pin -o "$work/pin.json" "$data"
expect 0 $photo "$quipu" decode --pin "$work/pin.json" --set "$data" --digest "$data/photo.qp"
sed "s/$set/$photo/" "$work/pin.json" >"$work/other.json"
expect 1 "model_mismatch" "$quipu" decode --pin "$work/other.json" --set "$data" --digest \
    "$data/photo.qp"
sed "s/acc64/acc32/" "$work/pin.json" >"$work/strong.json"
expect 1 "model_mismatch" "$quipu" set verify --pin "$work/strong.json" "$data"
expect 0 "sound, and meets acc64" "$quipu" set verify --pin "$work/pin.json" "$data"
expect 0 "$set" "$quipu" set info "$data"
expect 1 "model_mismatch" "$quipu" set verify "$2/test"

# receipts
expect 0 "\"output_sha256\":\"$photo\"" "$quipu" decode --receipt - --set "$data" "$data/photo.qp"

# memory, and no partial file
expect 1 "too_large" "$quipu" decode --max-memory 1000 --set "$data" -o "$work/a.png" \
    "$data/photo.qp"
head -c 300 "$data/photo.qp" >"$work/cut.qp"
expect 1 "payload_malformed" "$quipu" decode --set "$data" -o "$work/a.png" "$work/cut.qp"
if [ -e "$work/a.png" ]; then
    echo "a refused decode left a file"
    faults=$((faults + 1))
fi

# a picture there and back, through files and through pipes
if "$quipu" encode --set "$data" -o "$work/p.qp" "$picture" 2>&1 | grep -q "without PNG"; then
    exit $faults
fi
expect 0 "bits a pixel" "$quipu" encode --set "$data" -o "$work/p.qp" "$picture"
"$quipu" encode --set "$data" -o - - <"$picture" >"$work/q.qp"
cmp "$work/p.qp" "$work/q.qp" || faults=$((faults + 1))
expect 0 "" "$quipu" decode --set "$data" -o "$work/p.png" "$work/p.qp"
"$quipu" decode --set "$data" -o - - <"$work/p.qp" | cmp - "$work/p.png" || faults=$((faults + 1))
# the models within the command, where the source has them: the set is found by its digest
for quality in 1 2 3; do
    model=$2/models/int_hyper/q$quality
    [ -e "$model/h_a.whm" ] || continue
    expect 0 "bits a pixel" "$quipu" encode --quality $quality -o "$work/m.qp" "$picture"
    expect 0 "bits a pixel" "$quipu" encode --set "$model" -o "$work/n.qp" "$picture"
    cmp "$work/m.qp" "$work/n.qp" || faults=$((faults + 1))
    one=$("$quipu" decode --digest "$work/m.qp")
    expect 0 "$one" "$quipu" decode --set "$model" --digest "$work/n.qp"
    expect 0 "" "$quipu" set pin --quality $quality -o "$work/model.json"
    expect 0 "$one" "$quipu" decode --pin "$work/model.json" --digest "$work/m.qp"
    expect 1 "model_mismatch" "$quipu" decode --pin "$work/pin.json" --digest "$work/m.qp"
done

# a video there and back: without loss, in one payload and in one a frame
mkdir "$work/video"
cp "$work/p.png" "$work/video/b.png"
cp "$picture" "$work/video/a.png"
expect 0 "bits a pixel" "$quipu" encode --step 1 -o "$work/v.qp" "$work/video"
expect 0 '"frames":2' "$quipu" encode --json --step 1 --capability wai.video.int_motion.frame \
    -o "$work/f.qp" "$work/video"
expect 0 "" "$quipu" decode -o "$work/frames" "$work/v.qp"
one=$("$quipu" decode --digest "$work/v.qp")
expect 0 "$one" "$quipu" decode --digest "$work/f.qp"
cmp "$work/p.png" "$work/frames/00001.png" || faults=$((faults + 1))
expect 1 "model_mismatch" "$quipu" encode -o "$work/n.qp" "$2/test"
rm "$work/video/b.png"

# a video in Y4M: its planes come back as they were, through files and through pipes
"$quipu" decode -o "$work/v.y4m" "$work/v.qp" || faults=$((faults + 1))
"$quipu" decode --y4m -o - "$work/f.qp" | cmp - "$work/v.y4m" || faults=$((faults + 1))
expect 0 "lossless" "$quipu" encode --step 1 -o "$work/y.qp" "$work/v.y4m"
"$quipu" encode --step 1 -o - - <"$work/v.y4m" | cmp - "$work/y.qp" || faults=$((faults + 1))
expect 0 "$one" "$quipu" decode --digest -o "$work/y.y4m" "$work/y.qp"
cmp "$work/v.y4m" "$work/y.y4m" || faults=$((faults + 1))
printf 'YUV4MPEG2 W2 H2 C420jpeg\nFRAME\n123456' >"$work/small.y4m"
expect 1 "field_range: samples of the form C420jpeg" "$quipu" encode -o "$work/n.qp" \
    "$work/small.y4m"
printf 'YUV4MPEG2 W2 H1 F25:1 Cmono\nFRAME\nab' >"$work/mono.y4m"
expect 0 "lossless" "$quipu" encode --step 1 -o "$work/n.qp" "$work/mono.y4m"
"$quipu" decode -o "$work/n.y4m" "$work/n.qp"
printf 'YUV4MPEG2 W2 H1 F0:0 Ip A0:0 C444\nFRAME\nab\200\200\200\200' | cmp - "$work/n.y4m" ||
    faults=$((faults + 1))
cp "$2/docs/images"/*.png "$work/video/" 2>/dev/null &&
    expect 1 "geometry_mismatch" "$quipu" encode -o "$work/n.qp" "$work/video"

# the trained sets: each opens under the capability that its files tell, and holds
for trained in int_hyper/q1 int_hyper/q2 int_hyper/q3 audio_int_codec int_synth int_mlicpp; do
    capability=wai.neural.${trained%%/*}
    [ "$trained" != audio_int_codec ] || capability=wai.audio.int_codec
    expect 0 "$capability" "$quipu" set info "$2/models/$trained"
    expect 0 "" "$quipu" set verify "$2/models/$trained"
done

expect 2 "1, 2 or 3" "$quipu" encode --quality 4 -o "$work/p.qp" "$picture"
exit $faults
