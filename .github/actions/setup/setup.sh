#!/usr/bin/env bash
# Installs Lateral on a runner of GitHub's: builds the checkout that this script lies in, or takes a wheel. The steps that follow find
# oshcc and oshrun in PATH, and CMake and pkg-config find the package.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
root=$(cd "$here/../../.." && pwd)
prefix=${LATERAL_SETUP_PREFIX:-${RUNNER_TOOL_CACHE:-${RUNNER_TEMP:-/tmp}}/lateral}
wheel=${LATERAL_SETUP_WHEEL:-}
ucx=${LATERAL_SETUP_UCX:-false}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
say() { printf 'setup: %s\n' "$*"; }

if [ -n "$wheel" ]; then
    say "installing $wheel into $prefix"
    python3 -m venv "$prefix"
    if [ "$ucx" = true ]; then wheel="${wheel}[ucx]"; fi
    "$prefix/bin/python" -m pip install -q --disable-pip-version-check "$wheel"
else
    if [ "$ucx" = true ]; then
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q update
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q install --no-install-recommends libucx-dev
    fi
    "$root/dev" install "$prefix"
fi
version=$("$prefix/bin/oshrun" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)
{
    printf 'CMAKE_PREFIX_PATH=%s\n' "$prefix${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
    printf 'PKG_CONFIG_PATH=%s\n' "$prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
} >>"${GITHUB_ENV:?only a workflow sets it}"
printf '%s\n' "$prefix/bin" >>"$GITHUB_PATH"
printf 'prefix=%s\nversion=%s\n' "$prefix" "$version" >>"$GITHUB_OUTPUT"
say "Lateral $version in $prefix"
