# SPDX-License-Identifier: Apache-2.0
# The Debian 12 packages that the build and the tests need; sourced by demo.sh and test.sh.
# shellcheck shell=sh disable=SC2034

BUILD_PACKAGES="gcc libc6-dev cmake ninja-build pkg-config libpng-dev libmpfr-dev"

TEST_PACKAGES="$BUILD_PACKAGES git g++ clang lld llvm-14 libclang-rt-14-dev libcmocka-dev \
valgrind python3 mandoc binutils libclang-rt-14-dev-wasm32 wasi-libc nodejs qemu-user \
libopenmpi-dev openmpi-bin \
gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
gcc-arm-linux-gnueabihf libc6-dev-armhf-cross \
gcc-riscv64-linux-gnu libc6-dev-riscv64-cross \
gcc-s390x-linux-gnu libc6-dev-s390x-cross"

# Installs the packages that are not there, with sudo where the user is not root.
install_packages() {
    missing=""
    for package in "$@"; do
        status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
        [ "$status" = "install ok installed" ] || missing="$missing $package"
    done
    # a node of another origin serves as well as Debian's
    if command -v node >/dev/null 2>&1; then
        missing=$(printf '%s' "$missing" | sed 's/ nodejs//')
    fi
    [ -n "$missing" ] || return 0
    as_root=""
    [ "$(id -u)" = 0 ] || as_root=sudo
    echo "installing:$missing"
    $as_root apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends \
        $missing >/dev/null
}
