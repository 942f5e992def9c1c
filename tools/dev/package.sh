# shellcheck shell=bash
# Makes what users install: the wheel. Sourced by ./dev, which has say and fail; results land in build/dist.

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
        -Ccmake.define.LATERAL_UCX=ON -Ccmake.define.LATERAL_UCX_ROOT="$ucx_root" . >build/wheel/build.log 2>&1 ||
        { tail -n 40 build/wheel/build.log >&2; fail "the wheel was not built"; }
    for name in "${WHEEL_OTHERS[@]}"; do args+=(--exclude "$name"); done
    PATH=$(dirname "$wheel_python"):$PATH "$wheel_python" -m auditwheel repair "${args[@]}" --wheel-dir "$raw/out" "$raw"/*.whl \
        >build/wheel/audit.log 2>&1 || { cat build/wheel/audit.log >&2; fail "auditwheel refuses the wheel"; }
    rm -f "$DIST"/lateral-*.whl
    mv "$raw"/out/*.whl "$DIST/"
    name=$(basename "$DIST"/lateral-*.whl)
    say "made $DIST/$name ($(du -k "$DIST/$name" | cut -f1) KiB); try: pip install $DIST/$name"
}
