#!/usr/bin/env bash
# In a fresh minimal system (./dev bare setup): plays a runner of GitHub's. It runs the action's step with the files that a
# runner gives it, then the steps of the sample workflow. Once it builds the checkout, once it takes the wheel of build/dist.
# "setup.sh here" does so on this machine, without the steps of the container file, which would install packages.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { printf 'setup test: %s\n' "$*"; }
fail() { printf 'setup test: %s\n' "$*" >&2; exit 1; }

# Prints the text of the run step that has the given NAME, or of the only step of the action: what stands after "run:".
step() { # FILE [NAME]
    python3 - "$@" <<'END'
import re, sys, textwrap
text = open(sys.argv[1], encoding="utf-8").read()
if len(sys.argv) > 2:
    text = text[text.index("- name: " + sys.argv[2]):]
one, block = re.search(r"^ *run: (?!\|)(.+)$", text, re.M), re.search(r"^( *)run: \|\n((?:\1 +.*\n|\n)*)", text, re.M)
found = min((m for m in (one, block) if m), key=lambda m: m.start())
print(textwrap.dedent(found.group(2)) if found is block else found.group(1))
END
}

play() { # WHEEL or nothing
    local folder line
    folder=$(mktemp -d "$work/XXXXXX")
    export GITHUB_ENV=$folder/env GITHUB_PATH=$folder/path GITHUB_OUTPUT=$folder/output RUNNER_TEMP=$folder
    unset RUNNER_TOOL_CACHE
    : >"$GITHUB_ENV"; : >"$GITHUB_PATH"; : >"$GITHUB_OUTPUT"
    GITHUB_ACTION_PATH=$root/.github/actions/setup LATERAL_SETUP_PREFIX="" LATERAL_SETUP_WHEEL=$1 LATERAL_SETUP_UCX=false \
        bash -e -o pipefail -c "$(step .github/actions/setup/action.yml)"
    grep -qx "version=$(sed -n 's/^project(Lateral VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)" "$GITHUB_OUTPUT" || fail "no version among the outputs"
    (
        PATH=$(tac "$GITHUB_PATH" | paste -sd:):$PATH
        while read -r line; do export "${line?}"; done <"$GITHUB_ENV"
        cd "$(mktemp -d "$work/XXXXXX")"
        bash -e -o pipefail -c "$(step "$root/packaging/github/workflow.yml" 'Build and run')" | grep -cE '^PE [0-3] of 4$' | grep -qx 4 ||
            fail "the sample workflow's step"
        # The next step of the workflow works on what the first has built.
        bash -e -o pipefail -c "$(step "$root/packaging/github/workflow.yml" 'Look for wrong arguments')" | grep -c '^PE 0 of 4$' >/dev/null || fail "--check"
        if ! { cmake -G Ninja -S "$root/tests/install/outside" -B b && cmake --build b; } >log 2>&1; then
            cat log
            fail "find_package"
        fi
        oshrun -n 2 b/ring_shared | grep -c right | grep -qx 2 || fail "the ring"
    )
}

# The steps of the container file by hand, in this tree instead of two images: the demonstration runs as its user.
container() {
    python3 - packaging/Containerfile >/tmp/container.sh <<'END'
import re, sys
text = re.sub(r"\\\n\s*", "", open(sys.argv[1], encoding="utf-8").read())
for line in text.splitlines():
    word, _, rest = line.partition(" ")
    if word == "RUN":
        print(rest)
    elif word == "ENV":
        print("export " + rest)
    elif word == "COPY" and "--from" not in rest:
        print("cp -r " + rest)
    elif word == "CMD":
        print("cd /demo && su person -c '" + "PATH=$PATH " + " ".join(re.findall('"([^"]*)"', rest)) + "'")
END
    bash -e /tmp/container.sh >/tmp/container.log 2>&1 || { tail -n 20 /tmp/container.log; fail "the container file's steps"; }
    grep -q 'verified' /tmp/container.log || fail "the demonstration"
}

here=${1:-}
install_packages() { { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -y -q install --no-install-recommends "$@"; } >/dev/null; }
[ -n "$here" ] || command -v python3 >/dev/null || install_packages python3
say "the action builds the checkout"
play ""
if compgen -G 'build/dist/lateral-*.whl' >/dev/null; then
    say "the action takes a wheel"
    [ -n "$here" ] || install_packages python3-venv
    play "$(echo "$root"/build/dist/lateral-*.whl)"
fi
if [ -z "$here" ]; then
    say "the container file's steps"
    container
fi
say "the action and the sample workflow hold"
