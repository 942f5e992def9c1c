#!/usr/bin/env bash
# ./dev bare [--cache] [--release SYSTEM/NAME --mirror URL] [demo|test [ARGS]|wheel|debs|setup]: does the command work
# on a machine that has nothing?
#
# Makes a minimal Debian or Ubuntu tree (the release of this machine, from the mirror that apt uses
# here; or, say, ubuntu/jammy from the mirror that --mirror names), puts a clean checkout of HEAD into
# it and runs ./dev COMMAND there. debs and setup are tests/install/debs.sh and setup.sh instead, which
# use what ./dev deb and ./dev wheel have made in build/dist; what `wheel` makes in the tree is copied
# to build/dist here. Mounts live in a private mount and process namespace that ends with its first
# process, so nothing stays mounted and nothing runs on, whatever dies; the tree is removed at the end
# (and by the next run, should this shell be killed). --cache keeps the packed base tree in .cache/ and
# uses it the next time.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

say() { printf 'bare: %s\n' "$*"; }
fail() { printf 'bare: %s\n' "$*" >&2; exit 1; }
misuse() { printf 'bare: %s\n' "$*" >&2; exit 2; }

if [ "${1:-}" != --inside ]; then
    cache=no release="" mirror=""
    while [ $# -gt 0 ]; do
        case $1 in
        --cache) cache=yes; shift ;;
        --release) [ $# -ge 2 ] || misuse "--release wants SYSTEM/NAME"; release=$2; shift 2 ;;
        --mirror) [ $# -ge 2 ] || misuse "--mirror wants a URL"; mirror=$2; shift 2 ;;
        *) break ;;
        esac
    done
    what=${1:-demo}
    case $what in
    demo | test | wheel | debs | setup) ;;
    *) misuse "demo, test, wheel, debs or setup, not '$what'" ;;
    esac
    [ "${release:+x}" = "${mirror:+x}" ] || misuse "--release and --mirror go together"
    [ $# = 0 ] || shift
    [ "$(id -u)" = 0 ] || fail "a fresh system tree needs root: sudo ./dev bare $what"
    git rev-parse -q --verify HEAD >/dev/null || fail "not a git checkout: the tree to try is made from HEAD"
fi

# ------------------------------------------------------------------- the inside of the namespace

mount_devices() { # TREE: the few devices that programs expect, none of the machine's own
    local node
    mount -t tmpfs -o mode=755,nosuid tmpfs "$1/dev"
    for node in null zero full random urandom tty; do
        : >"$1/dev/$node"
        mount --bind "/dev/$node" "$1/dev/$node"
    done
    mkdir "$1/dev/shm" "$1/dev/pts"
    mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$1/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$1/dev/pts"
    ln -s pts/ptmx "$1/dev/ptmx"
    ln -s /proc/self/fd "$1/dev/fd"
    ln -s fd/0 "$1/dev/stdin"
    ln -s fd/1 "$1/dev/stdout"
    ln -s fd/2 "$1/dev/stderr"
}

inside() { # TREE COMMAND...
    local tree=$1 name keep=()
    shift
    local program=./dev
    case $1 in
    debs | setup) program=tests/install/$1.sh; shift ;;
    esac
    mount -t proc proc "$tree/proc"
    mount -t sysfs -o ro sysfs "$tree/sys"
    mount_devices "$tree"
    for name in http_proxy https_proxy ftp_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY \
        SSL_CERT_FILE SSL_CERT_DIR PIP_INDEX_URL PIP_CERT; do
        if [ -n "${!name:-}" ]; then keep+=("$name=${!name}"); fi
    done
    # chdir after chroot; no shell profile, none of this machine's settings
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        TERM="${TERM:-dumb}" DEBIAN_FRONTEND=noninteractive "${keep[@]}" \
        chroot "$tree" sh -c 'cd /root/lateral && exec "$@"' sh "$program" "$@"
}

if [ "${1:-}" = --inside ]; then
    shift
    inside "$@"
fi

# ------------------------------------------------------------------------- what the machine says

if [ -n "$release" ]; then
    system=${release%%/*} codename=${release#*/}
else
    system=$(. /etc/os-release && echo "$ID")
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
fi
case $system in
debian) vendor=Debian keyring=/usr/share/keyrings/debian-archive-keyring.gpg components=main ;;
ubuntu) vendor=Ubuntu keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg components="main universe" ;;
*) fail "this machine runs $system; a fresh tree is made from Debian's or Ubuntu's packages" ;;
esac
[ -n "$codename" ] || fail "/etc/os-release names no release"
[ -f "$keyring" ] || fail "$keyring is not there: install the keyring package of $system"

# The distribution's own repositories as apt knows them here: URI|suite|component. Others are left out.
repositories() {
    if [ -n "$mirror" ]; then
        local component
        for component in $components; do printf '%s|%s|%s\n' "$mirror" "$codename" "$component"; done
        return
    fi
    # shellcheck disable=SC2016 # apt expands these
    apt-get indextargets --format '$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)' 'Created-By: Packages' |
        awk -F'|' -v vendor="$vendor" -v name="$codename" \
            '($4 == vendor || $4 == "$(ORIGIN)" || $4 == "") && index($2, name) == 1 { print $1 "|" $2 "|" $3 }' | sort -u
}

apt_lists() { compgen -G '/var/lib/apt/lists/*Packages*' >/dev/null || apt-get -q update; }

# The proxies that apt uses, for debootstrap, which fetches with wget.
use_apt_proxies() {
    local proxy=""
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    case $proxy in "" | DIRECT) ;; *) export http_proxy=${http_proxy:-$proxy} ;; esac
    proxy=""
    eval "$(apt-config shell proxy Acquire::https::Proxy)"
    case $proxy in "" | DIRECT) ;; *) export https_proxy=${https_proxy:-$proxy} ;; esac
}

need_debootstrap() {
    if ! command -v debootstrap >/dev/null 2>&1; then
        say "installing debootstrap, which makes the fresh tree"
        DEBIAN_FRONTEND=noninteractive apt-get -y -q install --no-install-recommends debootstrap || fail "cannot install debootstrap"
    fi
}

# --------------------------------------------------------------------------------- the fresh tree

make_base() { # TREE
    local packed=.cache/bare-$system-$codename.tar from start=$SECONDS
    if [ "$cache" = yes ] && [ -f "$packed" ]; then
        say "unpacking $packed"
        tar -C "$1" -xpf "$packed" --numeric-owner
        return
    fi
    from=$(repositories | awk -F'|' -v name="$codename" '$2 == name && $3 == "main" { print $1; exit }')
    [ -n "$from" ] || fail "apt on this machine has no repository of $codename main"
    say "making a minimal $system $codename (debootstrap --variant=minbase)"
    debootstrap --variant=minbase --keyring="$keyring" "$codename" "$1" "$from" >"$1.log" 2>&1 ||
        { tail -n 15 "$1.log" >&2; fail "debootstrap failed"; }
    rm -f "$1.log"
    say "made in $((SECONDS - start)) s"
    if [ "$cache" = yes ]; then
        mkdir -p .cache
        tar -C "$1" -cpf "$packed.part" --numeric-owner --one-file-system . && mv "$packed.part" "$packed"
    fi
}

# How to reach the network and the packages: what this machine uses, and nothing else of it.
copy_network() { # TREE
    local file
    for file in /etc/resolv.conf /etc/hosts; do
        if [ -e "$file" ]; then
            rm -f "$1$file"
            cp -L "$file" "$1$file"
        fi
    done
    for file in /etc/apt/auth.conf /etc/apt/auth.conf.d /etc/ssl/certs /usr/local/share/ca-certificates \
        "${SSL_CERT_FILE:-}" "${PIP_CERT:-}"; do
        if [ -n "$file" ] && [ -e "$file" ]; then
            mkdir -p "$1$(dirname "$file")"
            cp -aL "$file" "$1$(dirname "$file")/" 2>/dev/null || true # dangling links of old certificates
        fi
    done
    # Only how packages are fetched: other settings may call programs that the fresh tree lacks.
    apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-|AllowInsecure|ForceIPv|Retries|Proxy)' \
        >"$1/etc/apt/apt.conf.d/90network" || true
    rm -f "$1"/etc/apt/sources.list.d/*
    repositories | awk -F'|' '{ parts[$1 "|" $2] = parts[$1 "|" $2] " " $3 }
        END { for (key in parts) { split(key, at, "|"); print "deb " at[1] " " at[2] parts[key] } }' >"$1/etc/apt/sources.list"
    # A machine whose lists were removed to save space: what the package lists cost is part of the proof.
    rm -rf "$1"/var/lib/apt/lists/*
}

clean_checkout() { # TREE
    mkdir -p "$1/root/lateral"
    git archive --format=tar HEAD | tar -C "$1/root/lateral" -xf -
    case $what in
    debs | setup)
        mkdir -p "$1/root/lateral/build"
        cp -r build/dist "$1/root/lateral/build/" 2>/dev/null || fail "nothing in build/dist: run ./dev deb and ./dev wheel first"
        ;;
    esac
    [ -z "$(git status --porcelain)" ] || say "note: uncommitted changes are not part of the proof"
}

# Twice, for a process that was still writing when it was killed.
remove_tree() { rm -rf --one-file-system -- "$1" "$1.log" 2>/dev/null || { sleep 1; rm -rf --one-file-system -- "$1" "$1.log"; }; }

# Trees of runs that were killed: named after a process that is gone.
remove_stale() {
    local tree pid
    for tree in "$place"/lateral-bare.*; do
        pid=${tree#"$place"/lateral-bare.}
        pid=${pid%%.*}
        if [ -d "$tree" ] && [ ! -d "/proc/$pid" ]; then
            say "removing $tree, left by a run that was killed"
            remove_tree "$tree"
        fi
    done
}

place=${TMPDIR:-/tmp}
need_debootstrap
apt_lists
use_apt_proxies
remove_stale
tree=$(mktemp -d "$place/lateral-bare.$$.XXXXXX")
child=
# shellcheck disable=SC2317 # called by the trap
end() {
    [ -z "$child" ] || kill -KILL "$child" 2>/dev/null || true # and with it the whole namespace
    remove_tree "$tree"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
chmod 755 "$tree"

begin=$SECONDS
make_base "$tree"
copy_network "$tree"
clean_checkout "$tree"
say "running ./dev $what${*:+ $*} in the fresh tree (commit $(git rev-parse --short HEAD))"
begin_command=$SECONDS status=0
# In the background, so that a signal to this shell is not kept waiting; but Ctrl-C works inside, and
# all of it ends with this shell.
env --default-signal=INT,QUIT setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child \
    bash tools/dev/bare.sh --inside "$tree" "$what" "$@" </dev/null &
child=$!
wait "$child" || status=$?
child=
if [ "$what" = wheel ] && [ "$status" = 0 ]; then
    mkdir -p build/dist
    cp "$tree"/root/lateral/build/dist/*.whl build/dist/
fi
say "./dev $what: exit $status after $((SECONDS - begin_command)) s ($((SECONDS - begin)) s with the tree)"
exit $status
