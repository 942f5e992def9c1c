"""Writes lateral.map, the version script that lists the exported symbols of the shared library."""

import table

# Hand-written interfaces beside the table; patterns are allowed.
BY_HAND = ("uccs_*", "PMIx_Initialized")
# The C library's, which ours stands before.
BEFORE_LIBC = {"GLIBC_2.34": "_Fork"}
# For the project's own checking layer; programs must not use them.
PRIVATE = ("lat_check_*",)


def version_script(functions):
    names = sorted({name for f in functions for name in (f.name, "p" + f.name)})
    lines = ["LATERAL_1.0 {", "  global:"] + [f"    {name};" for name in [*names, *BY_HAND]]
    lines += ["  local:", "    *;", "};", "", "LATERAL_PRIVATE {", "  global:"]
    lines += [f"    {name};" for name in PRIVATE] + ["};", ""]
    lines += [f"{version} {{ global: {name}; }};" for version, name in BEFORE_LIBC.items()] + [""]
    return "\n".join(lines)


def write(out, functions):
    out.write("lateral.map", version_script(functions))
