#!/usr/bin/env bash
# In a fresh minimal system (./dev bare debs): installs the packages of build/dist, uses them, removes them, and looks at what
# is left. Wants root, apt and nothing else.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

say() { printf 'debs: %s\n' "$*"; }
fail() { printf 'debs: %s\n' "$*" >&2; exit 1; }
install() { apt-get -y -q -o Dpkg::Use-Pty=0 install --no-install-recommends "$@" >>/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; fail "apt-get install $*"; }; }
expect() { # WORDS in the output of COMMAND
    local words=$1 out
    shift
    out=$("$@" 2>&1) || fail "$*: exit status $?: $out"
    case $out in *"$words"*) ;; *) fail "$* does not say '$words' but: $out" ;; esac
}
files() { find / -xdev \( -path /proc -o -path /sys -o -path /tmp -o -path /root -o -path /var \) -prune -o \( -name '*lateral*' -o -name 'osh*' \
    -o -name 'shmem*' -o -name 'uccs*' \) -print | sort; }

use() { # as a person who is not root
    local place
    place=$(mktemp -d)
    chmod 777 "$place"
    cp examples/hello.c tests/install/outside/*.c tests/install/outside/*.cc tests/install/outside/CMakeLists.txt "$place"
    cd "$place"
    useradd -m person 2>/dev/null || true
    su person -c 'oshcc hello.c && oshrun -n 4 ./a.out' | sort | grep -c '^hello from PE [0-3] of 4$' | grep -qx 4 || fail "hello"
    su person -c 'oshc++ ring.cc -o ring_cxx && oshrun -n 3 ./ring_cxx' | grep -c right | grep -qx 3 || fail "the C++ ring"
    # shellcheck disable=SC2016 # the person's shell expands it
    su person -c 'cc ring.c -o ring $(pkg-config --cflags --libs lateral) && oshrun -n 3 ./ring' | grep -c right | grep -qx 3 || fail pkg-config
    su person -c 'cmake -S . -B b >log 2>&1 && cmake --build b >>log 2>&1 && oshrun -n 3 b/ring_static' | grep -c right | grep -qx 3 ||
        { cat log; fail "find_package"; }
    cd - >/dev/null
}

apt-get -q update >/tmp/apt.log 2>&1
install gcc g++ libc6-dev pkg-config cmake make man-db
files >/tmp/before
say "installing the packages"
install ./build/dist/lateral_*.deb ./build/dist/lateral-dev_*.deb ./build/dist/lateral-doc_*.deb
use
expect "Lateral $(sed -n 's/^project(Lateral VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt), OpenSHMEM 1.6" lateral-info
expect "not here: libucp.so.0" lateral-info
[ -e /usr/share/man/man3/shmem_put.3.gz ] || fail "no manual page"
if man -w ls >/dev/null 2>&1 || [ ! -e /etc/dpkg/dpkg.cfg.d/excludes ]; then expect shmem_put man -w shmem_put; fi
say "beside Open MPI, which keeps the plain names"
install openmpi-bin libopenmpi-dev libucx0 libpmix2 ./build/dist/lateral-mpi_*.deb
expect "PEs of other nodes: 1." lateral-info
expect "hello from PE 1 of 2" sh -c 'oshcc.lateral examples/hello.c -o /tmp/hello && oshrun.lateral -n 2 /tmp/hello'
expect "is carried by Lateral" sh -c 'mpicc tests/install/outside/mpi/window.c -o /tmp/window && LATERAL_MPI=verbose lateral-mpi /tmp/window'
expect "Lateral_OSHRUN" grep -o 'Lateral_OSHRUN.*oshrun.lateral' /usr/lib/*/cmake/Lateral/LateralConfig.cmake
say "removing"
apt-get -y -q purge 'lateral*' openmpi-bin libopenmpi-dev libopenmpi3 openmpi-common >>/tmp/apt.log 2>&1 || fail "apt-get purge"
apt-get -y -q autoremove --purge >>/tmp/apt.log 2>&1
files >/tmp/after
diff /tmp/before /tmp/after || fail "files are left"
if [ -e /etc/alternatives/oshrun ] || [ -e /etc/alternatives/oshcc ]; then fail "an alternative is left"; fi
say "installed, used and removed"
