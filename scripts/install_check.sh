#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs a build into a fresh folder, and builds and runs examples/embed against it: through the
# CMake package (shared library), through pkg-config, and with the static library alone.
#   scripts/install_check.sh BUILD_DIR WORK_DIR
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >/dev/null

libdir=$(dirname "$(find "$prefix" -name libquipu.a)")
graph=$source/models/superres-x3.whg1
expected=$("$build/quipu" --version)

check() {
    printf '%s: ' "$1"
    shift
    result=$("$@" "$graph" 16 12)
    echo "$result" | head -1
    case $result in
    "$expected"*"output 0 is [1, 48, 36]"*) ;;
    *)
        echo "unexpected: $result"
        exit 1
        ;;
    esac
}

cmake -S "$source/examples/embed" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/cmake" >/dev/null
check "CMake package" "$work/cmake/embed"

flags=$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --cflags --libs quipu)
# shellcheck disable=SC2086
cc -std=c99 "$source/examples/embed/main.c" $flags -o "$work/embed_pkg"
check "pkg-config" env LD_LIBRARY_PATH="$libdir" "$work/embed_pkg"

cc -std=c99 -I"$prefix/include" "$source/examples/embed/main.c" "$libdir/libquipu.a" \
    -o "$work/embed_static"
check "static library" "$work/embed_static"

# exported symbols
foreign() {
    awk 'NF == 3 { print $3 }' | grep -v '^qp_' || true
}
for library in libquipu libquipu_fabric; do
    exported=$(nm -D --defined-only "$libdir/$library.so" | foreign)
    [ -z "$exported" ] || { echo "exported without qp_: $exported"; exit 1; }
    global=$(nm -g --defined-only "$libdir/$library.a" | foreign)
    [ -z "$global" ] || { echo "global in the static library without qp_: $global"; exit 1; }
done
readelf -d "$libdir/libquipu.so" | grep -q 'SONAME.*libquipu.so.0' || { echo "no soname"; exit 1; }

# each public header stands alone, in C99 and C++
for header in "$prefix"/include/quipu/*.h; do
    strict="-Wall -Wextra -Wpedantic -Werror -fsyntax-only"
    # shellcheck disable=SC2086
    cc -std=c99 $strict -I"$prefix/include" -x c "$header"
    # shellcheck disable=SC2086
    c++ -std=c++11 $strict -I"$prefix/include" -x c++ "$header"
done
[ -e "$prefix/share/man/man1/quipu.1" ]
echo "installed: libraries, headers, package files, manual page"
