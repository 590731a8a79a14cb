#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_convert_mpi.sh QUIPU SOURCE - the processes of an MPI run share a conversion: the bytes are
# those of one process, and a failure leaves nothing. Skipped (77) where quipu is built without MPI.
quipu=$1
source=$2
grep -q MPI_File_write_at "$quipu" || exit 77
command -v mpirun >/dev/null || exit 77
. "$source/test/cli/weights.sh"
stories=$data/weights/stories260k-bf16.safetensors

# several PROCESSES ARGUMENT... - one conversion by several processes.
several() {
    processes=$1
    shift
    OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none \
        OMPI_MCA_rmaps_base_oversubscribe=1 \
        mpirun --oversubscribe --allow-run-as-root -n "$processes" "$quipu" convert "$@" \
        >"$work/out" 2>"$work/err"
}

for preset in q4_g64_fp16 nvfp4 gguf_q8_0; do
    expect 0 convert --force --to "$preset" "$stories" "$work/one.ninfer"
    rm -f "$work/all.ninfer"
    several 4 --to "$preset" --threads 2 "$stories" "$work/all.ninfer" ||
        fail "$preset: $(cat "$work/err")"
    same "$work/one.ninfer" "$work/all.ninfer"
done
said out verified
[ "$(grep -c verified "$work/out")" -eq 1 ] || fail "several processes speak"

# other kinds of files, and several of them
for name in x.gguf x.safetensors; do
    expect 0 convert "$stories" "$work/$name"
    several 4 "$stories" "$work/all-$name" || fail "$name: $(cat "$work/err")"
    same "$work/$name" "$work/all-$name"
done
mkdir "$work/one" "$work/all"
expect 0 convert --max-file-bytes 65536 "$stories" "$work/one/x.ninfer"
several 4 --max-file-bytes 65536 "$stories" "$work/all/x.ninfer" || fail "$(cat "$work/err")"
expect 0 convert --max-file-bytes 131072 "$stories" "$work/one/y.safetensors"
several 4 --max-file-bytes 131072 "$stories" "$work/all/y.safetensors" || fail "$(cat "$work/err")"
for file in "$work"/one/*; do
    same "$file" "$work/all/${file##*/}"
done

# refused by all, and nothing is left
if several 4 "$stories" "$work/all/x.ninfer"; then
    fail "an existing target was replaced"
fi
if several 4 --to q2_g64_fp16 "$stories" "$work/none.ninfer"; then
    fail "a refused plan went through"
fi
if several 4 "$stories" "$work/no/such/folder/x.ninfer"; then
    fail "a file was made nowhere"
fi
for file in "$work"/none* "$work"/all/*quipu* "$work"/*quipu-*; do
    [ ! -e "$file" ] || fail "$file was left"
done
finish
