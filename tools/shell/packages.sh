# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# The Debian packages that each command needs, and their installation. Sourced, not run.

build_packages=(gcc libc6-dev meson ninja-build pkg-config libopenmpi-dev openmpi-bin
    libfftw3-dev libfftw3-mpi-dev libhdf5-openmpi-dev libhwloc-dev libcjson-dev libxxhash-dev)
plot_packages=(gnuplot-nox)
bench_packages=("${plot_packages[@]}" python3-mpi4py-fft)
lammps_packages=(lammps lammps-examples liblammps0)
fftw_packages=(gcc libc6-dev make dpkg-dev libopenmpi-dev)
docs_packages=(doxygen doxygen-awesome-css libjs-lunr python3)
simulate_packages=(libsimgrid-dev "${plot_packages[@]}")
python_packages=(python3-dev python3-venv python3-pip python3-setuptools cython3 python3-numpy python3-mpi4py)
test_packages=(g++ gfortran check python3-h5py "${plot_packages[@]}")
# What the passes of ./dev test need besides.
declare -A pass_packages=(
    [gcc]="cmake iproute2 abigail-tools mpb-mpi netcdf-bin liblammps0"
    [mpich]="clang libmpich-dev mpich libhdf5-mpich-dev"
    [own-mpi]="cmake python3-venv"
    [sanitize]="clang libclang-rt-dev llvm"
    [tsan]="libmpich-dev mpich util-linux"
    [valgrind]="valgrind"
    [model]="spin"
    [python]="${python_packages[*]} python3-pytest python3-h5py-mpi python3-netcdf4 python3-scipy python3-wheel"
    [checks]="clang-format shellcheck"
    [commands]="git libsubunit-dev libmpich-dev mpich clang-format ${fftw_packages[*]} ${lammps_packages[*]} ${bench_packages[*]} ${simulate_packages[*]} ${python_packages[*]}"
    [bare]="debootstrap git"
    [documents]="${docs_packages[*]} nodejs"
)

missing_packages() { # packages
    local package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' ||
            echo "$package"
    done
}

# Nothing for root, sudo for others who have it, else an explanation.
become_root() { # packages, for the explanation
    if [ "$(id -u)" -eq 0 ]; then
        return 0
    elif ! command -v sudo >/dev/null; then
        echo "These packages are missing, and this is neither root nor is there sudo:" >&2
        echo "  apt-get install --no-install-recommends $*" >&2
        echo "Have them installed, then run the command again." >&2
        return 1
    elif [ -t 0 ]; then
        echo sudo
    else
        echo sudo -n
    fi
}

# Makes of apt's status lines (kind:package:percent:text) one line that counts up.
show_progress() {
    local kind percent
    while IFS=: read -r kind _ percent _; do
        [ -t 1 ] || continue
        case $kind in
        dlstatus) printf '\r  fetching   %3d %%' "${percent%.*}" ;;
        pmstatus) printf '\r  installing %3d %%' "${percent%.*}" ;;
        esac
    done
    [ ! -t 1 ] || printf '\r                   \r'
}

# apt's text goes to stderr, and its status lines, where they are wanted (9), to stdout. The scripts of packages need a
# standard output, which they do not have where the status takes it; sudo closes all descriptors above 2.
apt_get() { # what becomes root, then apt-get's arguments
    local as_root=$1
    shift
    # shellcheck disable=SC2086,SC2016 # `sudo -n` is two words, and root needs none; the inner shell expands $@
    $as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C sh -c 'exec "$@" 9>&1 >&2' sh \
        apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null
}

apt_install() { # what becomes root, log file, packages
    local as_root=$1 log=$2
    shift 2
    apt_get "$as_root" install -y --no-install-recommends -o APT::Status-Fd=9 "$@" 2>>"$log" | show_progress
    return "${PIPESTATUS[0]}"
}

# Installs only what is missing; fetches new package lists only if that fails with the present ones.
install_packages() { # packages
    local missing as_root log=out/log/apt.txt
    if ! command -v dpkg-query >/dev/null; then
        echo "Not a Debian system; the build reports what is missing. Needed: $*"
        return 0
    fi
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    as_root=$(become_root "${missing[@]}") || return
    mkdir -p out/log
    echo "Installing ${#missing[@]} packages with apt: ${missing[*]}"
    apt_install "$as_root" "$log" "${missing[@]}" && return 0
    apt_get "$as_root" update 2>>"$log" || true
    apt_install "$as_root" "$log" "${missing[@]}" && return 0
    echo "apt could not install them; the end of $log:" >&2
    tail -n 20 "$log" >&2
    return 1
}
