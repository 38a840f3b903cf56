#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the libraries and their tests for aarch64, to run them under qemu: Debian's cross compiler, and its
# libraries for arm64 in a folder of their own, since they cannot all be installed beside those of amd64.
#     tools/test/aarch64.sh      makes build-test/aarch64
# Exit code 77 if packages are missing and cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/shell/packages.sh
. tools/shell/build.sh

tools=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user mpich apt)
libraries=(libmpich-dev libmpich12 libucx-dev libucx0 libibverbs1 librdmacm1 libnl-3-200
    libnl-route-3-200 libnuma1 libhwloc-dev libhwloc15 libudev1 libfftw3-dev libfftw3-double3
    libfftw3-single3 libfftw3-long3 check libsubunit-dev libsubunit0 libc6-dev libc6 libcrypt1 linux-libc-dev libgcc-s1
    libstdc++6 libgomp1 libgfortran5 zlib1g)
folder=$PWD/build-test/arm64
sysroot=$folder/sysroot

# apt as on an arm64 machine on which nothing is installed; it changes nothing outside the folder.
arm64_apt() {
    apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root \
        -o Dir::State::status="$folder/status" -o Dir::State::lists="$folder/lists" \
        -o Dir::Cache="$folder/cache" -o Acquire::Languages=none "$@"
}

fetch_libraries() {
    local package
    mkdir -p "$folder"/{lists,cache/archives}/partial "$folder/packages" "$sysroot"
    : >"$folder/status"
    arm64_apt update
    (cd "$folder/packages" && arm64_apt download "${libraries[@]}")
    for package in "$folder"/packages/*.deb; do
        dpkg -x "$package" "$sysroot"
    done
    # Absolute links lead out of the folder; without libm.so the linker takes libm.a, which fits no shared library.
    find "$sysroot" -type l -lname '/*' -exec bash -c \
        'for link; do ln -sfn "$0$(readlink "$link")" "$link"; done' "$sysroot" {} +
    echo "${libraries[*]}" >"$folder/complete"
}

write_cross_file() {
    cat >"$folder/cross.ini" <<END
[binaries]
c = ['aarch64-linux-gnu-gcc', '--sysroot=$sysroot']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'

[properties]
sys_root = '$sysroot'
pkg_config_libdir = ['$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig']
needs_exe_wrapper = true

[built-in options]
c_link_args = ['-L$sysroot/usr/lib/aarch64-linux-gnu', '-Wl,-rpath-link,$sysroot/usr/lib/aarch64-linux-gnu']

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'armv8-a'
endian = 'little'
END
}

cannot() {
    echo "skipped: $1"
    exit 77
}

install_packages "${tools[@]}" || cannot "no cross compiler or qemu here"
if [ "$(cat "$folder/complete" 2>/dev/null)" != "${libraries[*]}" ]; then
    rm -rf "$folder"
    quietly out/log/arm64-packages.txt fetch_libraries || cannot "no packages for arm64 here"
fi
write_cross_file
# What ./dev test aarch64 runs
build_targets=(tests/libyield.so tests/test_redist_{copy,loops,steps,join,exchange,tiles,partitions,boxes}
    tests/test_fftnd_{random,partitions,calls} tests/soak)
build_folder build-test/aarch64 --cross-file "$folder/cross.ini" --buildtype=release -Ddebug=true \
    -Dmpi=mpich -Dcuda=disabled -Djson=disabled -Dexamples=false -Dbenchmarks=false -Dwerror=true
