#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# bare.sh root|sudo: what README.md promises of Debian 12 with nothing but git and apt, in a folder of its own that is
# the root of a file system. root: each command of docs/tutorial.md, the restart of docs/files.md, ./dev install and the
# program of README.md. sudo: an ordinary user's ./dev demo --quick, without package lists; what root has built is taken,
# as only installing differs.
# The system (debootstrap, from the mirror of this machine's apt) and downloaded packages stay in build-test/bare.
set -euo pipefail

suite=bookworm
folder=$PWD/build-test/bare
system=$folder/system

skip() { # reason
    echo "$1"
    exit 77
}

# ---------------------------------------------------------------- the system

# URI and suite of Debian's packages, as this machine's apt has them.
find_mirrors() {
    # shellcheck disable=SC2016 # apt expands it
    apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 'Component: main' 'Origin: Debian' |
        awk -v suite=$suite '$2 ~ "^" suite && !seen[$0]++'
}

# How this machine's apt gets at its mirrors: proxies, certificates and the like.
apt_settings() {
    apt-config dump --no-empty --format '%F "%v";%n' Acquire | grep -E '^Acquire::(https?|Check|Retries|ForceIPv|Languages)' || true
    [ -z "${http_proxy:-}" ] || echo "Acquire::http::Proxy \"$http_proxy\";"
    [ -z "${https_proxy:-}" ] || echo "Acquire::https::Proxy \"$https_proxy\";"
}

# The certificates that the settings name, and those of this machine.
copy_certificates() { # root of a system
    local file
    for file in /etc/ssl/certs/ca-certificates.crt $(apt_settings | sed -n 's/^Acquire::https.*::Ca.*"\(.*\)";/\1/Ip'); do
        [ ! -f "$file" ] || install -D -m 644 "$file" "$1$file"
    done
}

# Files are not flushed one by one: a system whose installation is cut off is made anew.
configure_apt() { # root of a system
    echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/90machine"
    sed 's/^/deb /; s/$/ main/' "$folder/mirrors.txt" >"$1/etc/apt/sources.list"
    apt_settings >"$1/etc/apt/apt.conf.d/90machine"
    ! grep -q https "$folder/mirrors.txt" || copy_certificates "$1"
}

# As apt has it, if the environment has none.
proxy() {
    local proxy=
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    echo "${http_proxy:-$proxy}"
}

bootstrap() {
    local mirror
    mirror=$(awk -v suite=$suite '$2 == suite { print $1; exit }' "$folder/mirrors.txt")
    rm -rf --one-file-system "$system.part"
    # in a mount namespace, since debootstrap leaves /proc mounted, which a copy of the system would contain
    http_proxy=$(proxy) unshare --mount debootstrap --variant=minbase $suite "$system.part" "$mirror" ||
        skip "debootstrap got no Debian 12 from $mirror"
    configure_apt "$system.part"
    inside "$system.part" sh -c 'apt-get -qq update && apt-get -qq install -y --no-install-recommends git' ||
        skip "apt got nothing from $mirror"
    mv "$system.part" "$system"
}

# Package lists of today: those of last week name packages that are gone.
provide_system() {
    [ "$(id -u)" -eq 0 ] || skip "only root can change the root of a file system"
    git rev-parse HEAD >/dev/null 2>&1 || skip "git knows no commit of this tree"
    command -v debootstrap >/dev/null || skip "there is no debootstrap"
    unshare --mount --pid --fork true 2>/dev/null || skip "this machine allows no mounts of one's own"
    mkdir -p "$folder/archives/partial"
    find_mirrors >"$folder/mirrors.txt"
    grep -q " $suite\$" "$folder/mirrors.txt" || skip "apt has no package lists of Debian 12 (apt-get update)"
    [ -d "$system" ] || bootstrap
    configure_apt "$system"
    inside "$system" apt-get -qq update || skip "apt reaches no mirror"
}

# ---------------------------------------------------------------- what happens in it

# Mounts and processes end with the command. Compilers optimise little, which halves the time of building.
inside() { # root of a system, command and arguments
    unshare --mount --pid --fork --kill-child bash "$0" enter "$@"
}

enter() { # root of a system, command and arguments
    local root=$1 name
    shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --rbind /sys "$root/sys"
    mount -t tmpfs tmpfs "$root/dev/shm"
    mount --bind "$folder/archives" "$root/var/cache/apt/archives"
    for name in resolv.conf hosts; do
        [ ! -e /etc/$name ] || cp -L /etc/$name "$root/etc/$name"
    done
    exec chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        LC_ALL=C.UTF-8 CFLAGS=-O1 "$@" </dev/null
}

# The tree is cloned in there; what is not committed is added.
fresh_copy() { # name
    rm -rf --one-file-system "${folder:?}/$1"
    cp -a --reflink=auto "$system" "$folder/$1"
    git clone --quiet --bare --no-local --depth 1 "file://$PWD" "$folder/$1/repository.git"
    git diff --binary HEAD >"$folder/$1/changes.patch"
    git ls-files --others --exclude-standard -z | tar --null -T - -cf "$folder/$1/changes.tar"
}

# The functions on from here run inside.
clone_tree() {
    git clone --quiet /repository.git /source
    cd /source
    [ ! -s /changes.patch ] || git apply /changes.patch
    tar -xf /changes.tar
}

run_tutorial() {
    awk '/^## / { skipped = FILENAME ~ /files/ && !/Checkpoints/ } /^```sh$/ && !skipped { inside = 1; next }
        /^```/ { inside = 0 } inside' docs/tutorial.md docs/files.md >/tmp/tutorial.sh
    bash -eux /tmp/tutorial.sh
}

run_readme() {
    export PKG_CONFIG_PATH=/opt/fftnd/lib/pkgconfig LD_LIBRARY_PATH=/opt/fftnd/lib
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' /source/README.md >/tmp/program.c
    cd /tmp
    # shellcheck disable=SC2046 # the flags are words
    cc program.c $(pkg-config --cflags --libs fftnd redist)
    mpirun --oversubscribe -n 2 ./a.out | tee printed.txt
    grep 'sum of all points: 98304' printed.txt
}

as_root() {
    set -euo pipefail
    clone_tree
    run_tutorial
    ./dev install /opt/fftnd
    run_readme
}

add_user() {
    set -euo pipefail
    apt-get -qq install -y --no-install-recommends sudo
    rm -r /var/lib/apt/lists
    useradd --create-home --shell /bin/bash user
    echo 'user ALL = (ALL) NOPASSWD: ALL' >/etc/sudoers.d/user
    [ -d /source ] || (clone_tree)
    chown -R user: /source
    exec su user -c 'cd /source && ./dev demo --quick'
}

case ${1:-} in
enter)
    shift
    enter "$@"
    ;;
root)
    provide_system
    fresh_copy root
    inside "$folder/root" bash -c "$(declare -f clone_tree run_tutorial run_readme as_root); as_root"
    rm -rf --one-file-system "$folder/built"
    mv "$folder/root/source" "$folder/built"
    rm -rf --one-file-system "$folder/root"
    ;;
sudo)
    provide_system
    fresh_copy sudo
    [ ! -d "$folder/built" ] || mv "$folder/built" "$folder/sudo/source"
    inside "$folder/sudo" bash -c "$(declare -f clone_tree add_user); add_user"
    rm -rf --one-file-system "$folder/sudo"
    ;;
*)
    echo "usage: bare.sh root|sudo" >&2
    exit 2
    ;;
esac
