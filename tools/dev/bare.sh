#!/usr/bin/env bash
# ./dev bare [--release SYSTEM/NAME --mirror URL] [demo|test [ARGS]|wheel|debs|setup]: does the command work
# on a machine that has nothing?
#
# mmdebstrap makes a minimal Debian or Ubuntu tree (the release of this machine, from the mirror that apt uses
# here; or, say, ubuntu/jammy from the mirror that --mirror names) and runs a hook in it: a clean checkout of HEAD,
# and ./dev COMMAND there. debs and setup are tests/install/debs.sh and setup.sh instead, which
# use what ./dev deb and ./dev wheel have made in build/dist; what `wheel` makes in the tree is copied
# to build/dist here. All processes live in a namespace that ends with this shell; the tree is removed at the end.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

say() { printf 'bare: %s\n' "$*"; }
fail() { printf 'bare: %s\n' "$*" >&2; exit 1; }
misuse() { printf 'bare: %s\n' "$*" >&2; exit 2; }

# How to reach the network and the packages: what this machine uses, and nothing else of it.
copy_network() { # TREE
    local file
    for file in /etc/apt/auth.conf /etc/apt/auth.conf.d /etc/ssl/certs /usr/local/share/ca-certificates "${SSL_CERT_FILE:-}" "${PIP_CERT:-}"; do
        if [ -n "$file" ] && [ -e "$file" ]; then
            mkdir -p "$1$(dirname "$file")"
            cp -aL "$file" "$1$(dirname "$file")/" 2>/dev/null || true # dangling links of old certificates
        fi
    done
    rm -rf "$1"/var/lib/apt/lists/* # what the package lists cost is part of the proof
}

# mmdebstrap's hook: the exit status goes to the file WORK/status, what is made to build/dist.
inside() { # WORK TREE COMMAND...
    local work=$1 tree=$2 what=$3 name program=./dev keep=() status=0
    shift 2
    copy_network "$tree"
    mkdir -p "$tree/root/lateral"
    git archive --format=tar HEAD | tar -C "$tree/root/lateral" -xf -
    case $what in
    debs | setup)
        program=tests/install/$what.sh
        shift
        mkdir -p "$tree/root/lateral/build"
        cp -r build/dist "$tree/root/lateral/build/"
        ;;
    esac
    for name in http_proxy https_proxy ftp_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR PIP_INDEX_URL PIP_CERT; do
        if [ -n "${!name:-}" ]; then keep+=("$name=${!name}"); fi
    done
    say "running ./dev $* in the fresh tree (commit $(git rev-parse --short HEAD))"
    # chdir after chroot; no shell profile, none of this machine's settings
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        TERM="${TERM:-dumb}" DEBIAN_FRONTEND=noninteractive "${keep[@]}" \
        chroot "$tree" sh -c 'cd /root/lateral && exec "$@"' sh "$program" "$@" </dev/null || status=$?
    echo "$status" >"$work/status"
    if [ "$what" = wheel ] && [ "$status" = 0 ]; then
        mkdir -p build/dist
        cp "$tree"/root/lateral/build/dist/*.whl build/dist/
    fi
}

if [ "${1:-}" = --inside ]; then
    shift
    inside "$@"
    exit 0
fi

release="" mirror=""
while [ $# -gt 0 ]; do
    case $1 in
    --release) [ $# -ge 2 ] || misuse "--release wants SYSTEM/NAME"; release=$2; shift 2 ;;
    --mirror) [ $# -ge 2 ] || misuse "--mirror wants a URL"; mirror=$2; shift 2 ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || set -- demo
case $1 in
demo | test | wheel) ;;
debs | setup) [ -d build/dist ] || fail "nothing in build/dist: run ./dev deb and ./dev wheel first" ;;
*) misuse "demo, test, wheel, debs or setup, not '$1'" ;;
esac
[ "${release:+x}" = "${mirror:+x}" ] || misuse "--release and --mirror go together"
[ "$(id -u)" = 0 ] || fail "a fresh system tree needs root: sudo ./dev bare $1"
git rev-parse -q --verify HEAD >/dev/null || fail "not a git checkout: the tree to try is made from HEAD"

# ------------------------------------------------------------------------- what the machine says

release=${release:-$(. /etc/os-release && echo "$ID/${VERSION_CODENAME:-}")}
system=${release%%/*} codename=${release#*/}
case $system in
debian) vendor=Debian components=main ;;
ubuntu) vendor=Ubuntu components="main universe" ;;
*) fail "this machine runs $system; a fresh tree is made from Debian's or Ubuntu's packages" ;;
esac
keyring=/usr/share/keyrings/$system-archive-keyring.gpg
[ -n "$codename" ] || fail "/etc/os-release names no release"
[ -f "$keyring" ] || fail "$keyring is not there: install the keyring package of $system"
if ! command -v mmdebstrap >/dev/null 2>&1; then
    say "installing mmdebstrap, which makes the fresh tree"
    DEBIAN_FRONTEND=noninteractive apt-get -y -q install --no-install-recommends mmdebstrap || fail "cannot install mmdebstrap"
fi

# The lines of sources.list: the mirror that is named, or the distribution's own repositories as apt knows them here.
repositories() {
    if [ -n "$mirror" ]; then
        echo "deb $mirror $codename $components"
        return
    fi
    compgen -G '/var/lib/apt/lists/*Packages*' >/dev/null || apt-get -q update >&2
    # shellcheck disable=SC2016 # apt expands these
    apt-get indextargets --format '$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)' 'Created-By: Packages' |
        awk -F'|' -v vendor="$vendor" -v name="$codename" \
            '($4 == vendor || $4 == "$(ORIGIN)" || $4 == "") && index($2, name) == 1 { print "deb", $1, $2, $3 }' | sort -u
}

work=$(mktemp -d "${TMPDIR:-/tmp}/lateral-bare.XXXXXX")
trap 'rm -rf --one-file-system -- "$work"' EXIT
chmod 755 "$work"
repositories >"$work/sources"
[ -s "$work/sources" ] || fail "apt on this machine has no repository of $codename"
# Only how packages are fetched: other settings may call programs that the fresh tree lacks.
apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-|AllowInsecure|ForceIPv|Retries|Proxy)' >"$work/apt" || true
[ -z "$(git status --porcelain)" ] || say "note: uncommitted changes are not part of the proof"
say "making a minimal $system $codename"
begin=$SECONDS
printf -v hook '%q ' bash "$PWD/tools/dev/bare.sh" --inside "$work"
printf -v words ' %q' "$@"
# shellcheck disable=SC2016 # mmdebstrap gives the tree as $1
env --default-signal=INT,QUIT TMPDIR="$work" setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
    mmdebstrap --quiet --mode=root --variant=minbase --keyring="$keyring" --aptopt="$work/apt" \
    --customize-hook="exec $hook"'"$1"'"$words" "$codename" /dev/null - <"$work/sources" || fail "mmdebstrap failed"
status=$(cat "$work/status" 2>/dev/null) || fail "the fresh tree did not come up"
say "./dev $*: exit $status after $((SECONDS - begin)) s with the tree"
exit "$status"
