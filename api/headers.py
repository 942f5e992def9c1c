"""Writes the public headers: shmem.h, pshmem.h, shmemx.h, mpp/shmem.h, mpp/shmemx.h."""

import extensions
import model
import table

FAMILIES = {
    "setup": "Library set-up, exit and queries", "memory": "Symmetric memory", "team": "Teams",
    "context": "Contexts", "rma": "Remote memory access", "signal": "Signals", "amo": "Atomics",
    "p2p": "Point-to-point synchronisation", "order": "Order, locks, barriers", "coll": "Collectives",
    "reduce": "Reductions and scans", "old": "Names from before version 1.2",
    "nbe": "Operations that a request tracks", "request": "Requests", "counter": "Counters and counted operations",
}

COMPLEX = {"float _Complex": "SHMEM_COMPLEXF_", "double _Complex": "SHMEM_COMPLEXD_"}

GENERATED = "Generated from api/table.py; edit the table, not this file."

DEPRECATED = """
/* Deprecated functions warn; a program that defines SHMEM_NO_DEPRECATED_WARNINGS first gets no warnings. */
#ifndef SHMEM_DEPRECATED_
#if defined(SHMEM_NO_DEPRECATED_WARNINGS)
#define SHMEM_DEPRECATED_
#else
#define SHMEM_DEPRECATED_ __attribute__((deprecated))
#endif
#endif
/* Overloads are inlined even without optimisation, so that mistakes are told at the program's line. */
#define SHMEM_OVERLOAD_ static inline __attribute__((always_inline))
"""

# C++ has no _Complex. std::complex has the same layout, and the functions take only pointers to it.
COMPLEX_TYPES = """
#ifdef __cplusplus
#define SHMEM_COMPLEXF_ std::complex<float>
#define SHMEM_COMPLEXD_ std::complex<double>
#else
#define SHMEM_COMPLEXF_ float _Complex
#define SHMEM_COMPLEXD_ double _Complex
#endif
"""

TYPES = """
/* Opaque handles; compare them with ==. */
typedef struct shmem_ctx_impl *shmem_ctx_t;
typedef struct shmem_team_impl *shmem_team_t;

typedef struct {
    int num_contexts;       /* mask bit SHMEM_TEAM_NUM_CONTEXTS */
} shmem_team_config_t;

typedef struct {
    size_t total_ops;       /* mask bit SHMEM_CTX_SESSION_TOTAL_OPS */
} shmem_ctx_session_config_t;

/* Predefined handles are numbers that no object has for its address, so that they can initialise
 * static variables and need no symbol. */
#if defined(__cplusplus)
#define SHMEM_CTX_INVALID (static_cast<shmem_ctx_t>(nullptr))
#define SHMEM_CTX_DEFAULT (reinterpret_cast<shmem_ctx_t>(1))
#define SHMEM_TEAM_INVALID (static_cast<shmem_team_t>(nullptr))
#define SHMEM_TEAM_WORLD (reinterpret_cast<shmem_team_t>(1))
#define SHMEM_TEAM_SHARED (reinterpret_cast<shmem_team_t>(2))
#else
#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT ((shmem_ctx_t)1)
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD ((shmem_team_t)1)
#define SHMEM_TEAM_SHARED ((shmem_team_t)2)
#endif
"""

OPEN_C = """#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
"""

CLOSE_C = """
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
"""

PICK = """
/* Type-generic names. The type of the first pointer selects the function; the type of the first argument tells whether
 * it is a context. A type that does not fit selects a function without arguments whose name is the error message.
 * Write a compound literal with commas in parentheses. */
#define SHMEM_ARG1_(a, ...) (a)
#define SHMEM_ARG2_(a, b, ...) (b)
#define SHMEM_ARG3_(a, b, c, ...) (c)
"""


def spell(text):
    for c, macro in COMPLEX.items():
        text = text.replace(c, macro)
    return text


def file_comment(text):
    return f"/* {text}\n * {GENERATED} */\n"


def by_family(functions):
    groups = {}
    for function in functions:
        groups.setdefault(function.row.family, []).append(function)
    return groups


def prototypes(functions, prefix=""):
    out = []
    for family, members in by_family(functions).items():
        out.append(f"\n/* {FAMILIES.get(family, family)} */\n")
        for function in members:
            mark = "SHMEM_DEPRECATED_ " if function.attributed and not prefix else ""
            if function.name == "shmem_global_exit":
                mark = "__attribute__((noreturn)) "
            out.append(f"{mark}{function.prototype(prefix, spell)};\n")
    return "".join(out)


def constants(version):
    out = []
    for comment, pairs in table.CONSTANTS:
        out.append(f"\n/* {comment} */\n")
        out += [f"#define {name} {value}\n" for name, value in pairs]
    out.append(f'#define SHMEM_VENDOR_STRING "Lateral {version}"\n')
    return "".join(out)


def refusal(generic):
    return f"{generic.name}_needs_{generic.row.types.label}"


def association(generic, pairs):
    lines = []
    for c, function in pairs:
        lines.append(f"{spell(c)} *: {function.name}")
        if generic.const:
            lines.append(f"const {spell(c)} *: {function.name}")
    lines.append(f"default: {refusal(generic)}")
    return lines


def selection(position, associations, indent):
    """Returns _Generic on the argument at a position; zeros behind it give the picking macros enough arguments."""
    body = (", \\\n" + " " * indent).join(associations)
    return f"_Generic(SHMEM_ARG{position + 1}_(__VA_ARGS__, 0, 0, 0), \\\n{' ' * indent}{body})"


def c11_generic(generic):
    """Returns the macro of one generic. A context in front nests a second selection, one argument further."""
    chosen = association(generic, generic.plain)
    if not generic.ctx:
        text = selection(generic.position, chosen, 4)
    else:
        inner = selection(generic.position + 1, association(generic, generic.ctx), 8)
        if generic.position == 0:
            text = selection(0, [f"shmem_ctx_t: {inner}"] + chosen, 4)
        else:
            plain = selection(generic.position, chosen, 8)
            text = selection(0, [f"shmem_ctx_t: {inner}", f"default: {plain}"], 4)
    return f"#define {generic.name}(...) {text}(__VA_ARGS__)\n"


# Names that are both a function and a generic: the first argument selects.
SELF = (("shmem_signal_add", "shmem_ctx_t", "shmem_ctx_signal_add"),
        ("shmem_signal_set", "shmem_ctx_t", "shmem_ctx_signal_set"),
        ("shmem_sync", "shmem_team_t", "shmem_team_sync"))


def c11(generics, selves):
    out = [f"void {refusal(g)}(void);\n" for g in generics]
    out += ["\n"] + [c11_generic(g) for g in generics]
    out += [f"#define {name}(...) _Generic(SHMEM_ARG1_(__VA_ARGS__, 0), \\\n    {kind}: {to}, default: {name})(__VA_ARGS__)\n"
            for name, kind, to in selves]
    return "".join(out)


def passed_on(kind, name):
    """Returns an argument of a _Complex type as the pointer to std::complex that the function takes."""
    return f"reinterpret_cast<{spell(kind).strip()}>({name})" if spell(kind) != kind else name


def overload(name, function, native=False):
    params = ", ".join((kind if native else spell(kind)) + arg for kind, arg in function.params)
    passed = ", ".join(passed_on(*param) if native else param[1] for param in function.params)
    mark = "SHMEM_DEPRECATED_ " if function.attributed else ""
    back = "" if function.result == "void" else "return "
    return f"{mark}SHMEM_OVERLOAD_ {spell(function.result)} {name}({params}) {{ {back}{function.name}({passed}); }}\n"


def overloads(generics, selves, functions):
    taken = {function.prototype(spell=spell) for function in functions}
    out = []
    for generic in generics:
        for _, function in generic.plain + generic.ctx:
            same = function.prototype(spell=spell).replace(function.name, generic.name)
            if same not in taken:       # else the C function of that name serves
                out.append(overload(generic.name, function))
    named = {function.name: function for function in functions}
    out += [overload(name, named[to]) for name, _, to in selves]
    return "".join(out)


def native_complex(functions, generics):
    """Returns overloads for _Complex, which GNU C++ compilers know too and headers of other libraries use."""
    out = []
    for name, function in ([(f.name, f) for f in functions] +
                           [(g.name, f) for g in generics for _, f in g.plain + g.ctx]):
        if any(c in kind for kind, _ in function.params for c in COMPLEX):
            out.append(overload(name, function, native=True))
    return "".join(out)


def generic_part(generics, selves, functions):
    return ("\n#if defined(__cplusplus)\n"
            'extern "C++" {\n#if defined(__GNUC__)\n#pragma GCC diagnostic push\n'
            '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"\n'
            '#pragma GCC diagnostic ignored "-Wpedantic"\n#endif\n'
            + overloads(generics, selves, functions)
            + "#if defined(__GNUC__)\n" + native_complex(functions, generics)
            + "#pragma GCC diagnostic pop\n#endif\n}\n"
            "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
            + c11(generics, selves) + "#endif\n")


def shmem_h(functions, generics, version):
    mine = [f for f in functions if f.row.header == "shmem.h"]
    gens = [g for g in generics if g.row.header == "shmem.h"]
    return (file_comment("OpenSHMEM 1.6.")
            + "#ifndef LATERAL_SHMEM_PUBLIC_H\n#define LATERAL_SHMEM_PUBLIC_H\n\n"
            "#include <stddef.h>\n#include <stdint.h>\n#ifdef __cplusplus\n#include <complex>\n#endif\n"
            + DEPRECATED + COMPLEX_TYPES + TYPES + constants(version) + "\n" + OPEN_C + "\n" + prototypes(mine) + CLOSE_C + PICK
            + generic_part(gens, SELF, mine)
            + "\n#endif\n")


def pshmem_h(functions):
    return (file_comment("The profiling interface: every function under its name with a p in front.")
            + "#ifndef LATERAL_PSHMEM_PUBLIC_H\n#define LATERAL_PSHMEM_PUBLIC_H\n\n#include <shmem.h>\n\n"
            + OPEN_C + prototypes([f for f in functions if f.row.header == "shmem.h"], "p") + CLOSE_C + "\n#endif\n")


def shmemx_h(functions, generics):
    mine = [f for f in functions if f.row.header == "shmemx.h"]
    gens = [g for g in generics if g.row.header == "shmemx.h"]
    body = (extensions.TYPES + OPEN_C + prototypes(mine) + prototypes(mine, "p") + CLOSE_C
            + generic_part(gens, (), mine) + extensions.paper_names())
    return (file_comment("Lateral's extensions of OpenSHMEM.")
            + "#ifndef LATERAL_SHMEMX_PUBLIC_H\n#define LATERAL_SHMEMX_PUBLIC_H\n\n#include <shmem.h>\n\n"
            + body + "\n#endif\n")


def forward(name):
    return file_comment(f"The old place of {name}.") + f"#include <{name}>\n"


def write(out, functions, generics, version):
    out.write("include/shmem.h", shmem_h(functions, generics, version))
    out.write("include/pshmem.h", pshmem_h(functions))
    out.write("include/shmemx.h", shmemx_h(functions, generics))
    out.write("include/mpp/shmem.h", forward("shmem.h"))
    out.write("include/mpp/shmemx.h", forward("shmemx.h"))
