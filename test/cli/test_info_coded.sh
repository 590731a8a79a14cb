#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_info_coded.sh QUIPU SOURCE - quipu info of a coded file and of a trace.
quipu=$1
source=$2
. "$source/test/cli/weights.sh"

pixels=$source/models/parrots-192x128.png
if "$quipu" encode --quality 1 -o "$work/p.qp" "$pixels" >"$work/out" 2>"$work/err"; then
    expect 0 info "$work/p.qp"
    narrow out
    said out "QPF1 payloads"
    said out "capability  wai.neural.int_hyper"
    said out "payloads    1, "
    expect 0 info --json "$work/p.qp"
    said out '"capability":"wai.neural.int_hyper"'
    said out '"payloads":1,'
    expect 0 info - <"$work/p.qp"
    expect 1 info --tensor x "$work/p.qp"
    head -c 100 "$work/p.qp" >"$work/cut.qp"
    expect 1 info "$work/cut.qp"
    said err payload_malformed

    expect 0 run "$source/models/superres-x3.whg1" "$pixels" -o "$work/o.png" --trace "$work/t"
    expect 0 info "$work/t"
    narrow out
    said out "run trace"
    said out "decodes   3, the colours of a picture"
    expect 0 info --json "$work/t"
    said out '"decodes":3,"tensors":10,"colour":true,"keeps_elements":false,"scalars":[]}'
    expect 1 info - <"$work/t"
    said err "read by its path"
    head -n 4 "$work/t" >"$work/cut"
    expect 1 info "$work/cut"
    said err malformed
else # a build without libpng
    said err PNG
fi
finish
