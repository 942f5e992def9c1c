# shellcheck shell=bash
# Makes what users install and read: wheel, Debian packages, site. Sourced by ./dev, which has say and fail; results land in build/dist.

DIST=build/dist
WHEEL_UCX=pypi==1.15.0.post2          # compiled against; any newer one serves at run time

# The libraries of others that modules need. Each is loaded when a job wants its module, and comes from the system or
# from the extra "ucx", never from inside of the wheel.
WHEEL_OTHERS=('libuc[ps].so*' 'libpmix.so*' 'libmpi*.so*')

# Wants ucx_root and wheel_python, which need.sh sets.
make_wheel() {
    local raw=build/wheel/raw name args=()
    need_ucx "$WHEEL_UCX"
    : "${ucx_root:?}" "${wheel_python:?}"
    rm -rf "$raw"
    mkdir -p "$raw" "$DIST"
    say "building the wheel with the UCX of $ucx_root"
    "$wheel_python" -m build --wheel --no-isolation --skip-dependency-check --outdir "$raw" \
        -Ccmake.define.LATERAL_OFI=OFF -Ccmake.define.LATERAL_UCX=ON -Ccmake.define.LATERAL_UCX_ROOT="$ucx_root" . >build/wheel/build.log 2>&1 ||
        { tail -n 40 build/wheel/build.log >&2; fail "the wheel was not built"; }
    for name in "${WHEEL_OTHERS[@]}"; do args+=(--exclude "$name"); done
    PATH=$(dirname "$wheel_python"):$PATH "$wheel_python" -m auditwheel repair "${args[@]}" --wheel-dir "$raw/out" "$raw"/*.whl \
        >build/wheel/audit.log 2>&1 || { cat build/wheel/audit.log >&2; fail "auditwheel refuses the wheel"; }
    rm -f "$DIST"/lateral-*.whl
    mv "$raw"/out/*.whl "$DIST/"
    name=$(basename "$DIST"/lateral-*.whl)
    say "made $DIST/$name ($(du -k "$DIST/$name" | cut -f1) KiB); try: pip install $DIST/$name"
}

version() { sed -n 's/^project(Lateral VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt; }

# The date of what is packaged, so that two builds of one commit say the same.
source_date() { git log -1 --format=%cd --date=rfc 2>/dev/null || date -R; }

# Debian packages are built from a copy of what git knows, with packaging/debian as its debian/.
make_deb() {
    local tree version
    version=$(version)
    tree=build/deb/lateral-$version
    rm -rf build/deb
    mkdir -p "$tree" "$DIST"
    git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -C "$tree" -xf -
    mv "$tree/packaging/debian" "$tree/debian"
    printf 'lateral (%s) unstable; urgency=medium\n\n  * CHANGELOG.md lists what is new.\n\n -- %s  %s\n' "$version" \
        "$(sed -n 's/^Maintainer: //p' "$tree/debian/control")" "$(source_date)" >"$tree/debian/changelog"
    say "building the Debian packages of $version"
    (cd "$tree" && DEB_BUILD_OPTIONS="nocheck parallel=$(cores)" dpkg-buildpackage -us -uc -b -d) >build/deb/build.log 2>&1 ||
        { tail -n 40 build/deb/build.log >&2; fail "the packages were not built"; }
    rm -f "$DIST"/lateral*.deb
    mv build/deb/*.deb "$DIST/"
    rm -f "$DIST"/*-dbgsym_*.deb
    lint_deb
    say "made $(cd "$DIST" && echo *.deb) in $DIST"
}

lint_deb() {
    if command -v lintian >/dev/null 2>&1; then
        lintian --allow-root --fail-on error,warning "$DIST"/lateral*.deb >build/deb/lintian.log 2>&1 ||
            { cat build/deb/lintian.log >&2; fail "lintian has findings"; }
    fi
}

# Every document, manual page and header as one site that needs no server. Wants docs_python, which need.sh sets.
make_docs() {
    : "${docs_python:?}"
    python3 docs/site/prepare.py build/site/source || fail "the sources of the site could not be laid out"
    "$docs_python" -m sphinx -q -W --keep-going -b html build/site/source build/site/html || fail "the site was not built"
    say "made build/site/html/index.html"
}

# What must hold before a version is published. Prints what does not; returns 1 then.
release_checks() {
    local version=$1 wrong=0
    grep -q "^## $version (2[0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9])$" CHANGELOG.md ||
        { say "CHANGELOG.md has no heading '## $version (YYYY-MM-DD)'"; wrong=1; }
    [ -z "$(git status --porcelain)" ] || { say "there are changes that are not committed"; wrong=1; }
    if git rev-parse -q --verify "refs/tags/v$version" >/dev/null && [ "$(git rev-parse "v$version^{commit}")" != "$(git rev-parse HEAD)" ]; then
        say "the tag v$version names another commit: raise the version in CMakeLists.txt"
        wrong=1
    fi
    build release >build/release.log 2>&1 || { tail -n 20 build/release.log; say "the build failed"; wrong=1; }
    ctest --test-dir build/release -R '^abi/' --no-tests=error >build/abi.log 2>&1 ||
        { tail -n 20 build/abi.log; say "the library's interface is not the one of tests/abi: see CONTRIBUTING.md"; wrong=1; }
    python3 -B tests/abi/check.py --record build/release/lib/liblateral.so >build/abi.log 2>&1
    git diff --quiet -- tests/abi || { say "tests/abi lacked new names: look at git diff tests/abi and commit it"; wrong=1; }
    return $wrong
}

# Builds everything that is published, into build/dist, with SHA256SUMS. Nothing is signed and nothing is uploaded.
make_release() {
    local version
    version=$(version)
    mkdir -p build
    release_checks "$version" || fail "this is no release yet"
    rm -rf "$DIST"
    mkdir -p "$DIST"
    say "building the source archive"
    "$wheel_python" -m build --sdist --no-isolation --skip-dependency-check --outdir "$DIST" . >build/sdist.log 2>&1 ||
        { tail -n 20 build/sdist.log >&2; fail "the source archive was not built"; }
    make_wheel
    make_deb
    (cd "$DIST" && sha256sum -- * >SHA256SUMS)
    say "in $DIST, with SHA256SUMS:"
    (cd "$DIST" && ls -l)
}
