"""Writes the test sources that call every symbol and check its effect (tests/symbols/).

A template per kind of row makes one block of code that is both C and C++. The block calls the function by one of its
spellings: its own name, its C11 generic, or its C++ overload. tests/symbols/harness.h holds the helpers of the
blocks. tests/symbols/plain.c calls one-off functions by hand.
"""

import headers
import model

START, VALUE = "0x1234000C5678000CULL", "0x0F0F000A0F0F000AULL"
CMP = (("EQ", "=="), ("NE", "!="), ("LT", "<"), ("LE", "<="), ("GT", ">"), ("GE", ">="))


def start(kind):
    return f"({kind.c})12" if kind.real else f"({kind.c}){START}"


def value(kind):
    return f"({kind.c})10" if kind.real else f"({kind.c}){VALUE}"


class Call:
    """A function under one spelling, ready to be written with arguments."""

    def __init__(self, function, spelling):
        self.f = function
        self.spelling = spelling
        self.name = function.name if spelling == "c" else model.generic_name(function.row)
        self.c = headers.spell(function.type.c) if function.type else "unsigned char"
        self.size = f"sizeof({self.c})" if function.type else str(function.bytes)
        self.label = f'"{function.name}"' if spelling == "c" else f'"{self.name} as {function.name}"'

    def __call__(self, *arguments):
        given = (["ctx"] if self.f.ctx else []) + list(arguments)
        return f"{self.name}({', '.join(given)})"

    def pointer(self, name, const=False):
        kind = "void" if not self.f.type else self.c
        return f"({'const ' if const else ''}{kind} *){name}"

    def expect(self, condition, what):
        return f'expect({self.label}, {condition}, "{what}");'

    def landed(self, pe, blocks, length, dst=0, sst=0):
        return f"landed({self.label}, {pe}, {self.size}, {blocks}, {length}, {dst}, {sst});"


def stem_of(row):
    """Returns the operation of a row, without the suffix that says how it completes."""
    return row.name.replace("#", "").removesuffix("_nbe")


def tracking(call):
    """Returns the lines before and behind a call that a request tracks, and its last argument."""
    if not call.f.has("req"):
        return [], [], []
    return ["track();"], [f"finish({call.label});"], ["&request"]


def moved(call):
    """put and get: the data that arrives is the sender's pattern."""
    row = call.f.row
    pe = "origin" if "put" in row.name else "peer"
    before, behind, last = tracking(call)
    to, of = call.pointer("dest"), call.pointer("source", True)
    if row.name.startswith("ib"):
        done, check = call(to, of, "5", "4", "2", "3", "peer"), call.landed(pe, 3, 2, 5, 4)
    elif row.name.startswith("i"):
        done, check = call(to, of, "2", "3", "4", "peer", *last), call.landed(pe, 4, 1, 2, 3)
    else:
        done, check = call(to, of, "5", "peer", *last), call.landed(pe, 1, 5)
    one = []
    if not row.name.startswith("i"):            # one element has a path of its own
        one = ["ready();", *before, call(to, of, "1", "peer", *last) + ";", *behind, "settle();", call.landed(pe, 1, 1)]
    return ["ready();", *before, done + ";", *behind, "settle();", check] + one


def counted(call):
    """Counting put and get: the target's counter rises, and the counted data is there. The get of `origin` reads from
    this PE, so in both cases `origin` counts here."""
    before, behind, last = tracking(call)
    to, of = call.pointer("dest"), call.pointer("source", True)
    put, arguments, shape = "put" in call.f.row.name, ["5"], (1, 5)
    if call.f.has("dst"):
        arguments, shape = ["2", "3", "4"], (4, 1, 2, 3)
    elif call.f.has("sig_op"):
        arguments = ["5", "&signal_word", "7", "SHMEM_SIGNAL_ADD"]
    lines = ["ready();", *before, call("counter", to, of, *arguments, "peer", *last) + ";", *behind,
             "shmemx_ct_wait(counter, 1);"]
    if call.f.has("sig_op"):
        lines.append(call.expect("shmem_signal_fetch(&signal_word) == 12", "wrong signal"))
    look = call.landed("origin" if put else "peer", *shape)
    # The count announces the data of a put; the data of a get is there once the get is complete.
    lines += [look, "settle();"] if put else ["settle();", look]
    return lines + [call.expect("shmemx_ct_fetch_reset(counter) == 1", "counted wrongly")]


def element_put(call):
    return ["ready();", call(call.pointer("dest"), f"({call.c})(-3 - me)", "peer") + ";", "settle();",
            call.expect(f"*{call.pointer('dest')} == ({call.c})(-3 - origin)", "wrong value"),
            call.expect(f"clear({call.size}, 64)", "bytes beside the element changed")]


def element_get(call):
    return ["ready();", f"*{call.pointer('source')} = ({call.c})(-5 - me);", "settle();",
            call.expect(f"{call(call.pointer('source', True), 'peer')} == ({call.c})(-5 - peer)", "wrong value"),
            "settle();"]


def after(operation, kind, hit):
    c, s, v = kind.c, start(kind), value(kind)
    combine = {"add": "+", "and": "&", "or": "|", "xor": "^"}
    if operation in combine:
        return f"({c})({s} {combine[operation]} {v})"
    return {"inc": f"({c})({s} + 1)", "set": v, "swap": v, "fetch": s, "cswap": v if hit else s}[operation]


def atomic(call, hit=True):
    f, operation, kind = call.f, call.f.row.near, call.f.type
    at = f"({'const ' if operation == 'fetch' else ''}{call.c} *)at"
    arguments = {"at": at, "fetch": "&got", "value": value(kind), "cond": start(kind) if hit else value(kind), "pe": "peer",
                 "req": "&request"}
    before, behind, _ = tracking(call)
    names = [name for name in f.names if name != "ctx"]
    done = call(*[arguments.get(name, at) for name in names])
    lines = ["ready();", f"{call.c} *at = {call.pointer('dest')}, got = 0;",
             f"at[0] = at[1] = {start(kind)};", "settle();",
             *before, ("got = " if f.result != "void" else "") + done + ";", *behind, "settle();"]
    if f.result != "void" or f.has("fetch"):
        lines.append(call.expect(f"got == {start(kind)}", "wrong value fetched"))
    else:
        lines.append("(void)got;")
    lines.append(call.expect(f"at[0] == {after(operation, kind, hit)}", "wrong value left behind"))
    lines.append(call.expect(f"at[1] == {start(kind)}", "the element beside it changed"))
    if operation == "cswap" and hit:
        return lines + ["}", "{"] + atomic(call, False)
    return lines


def compare_one(call):
    """wait_until and test on one variable: every comparison, signedness, then an arrival."""
    verb = call.f.row.name
    c = call.c
    lines = ["ready();", f"{c} *at = {call.pointer('dest')};", f"const {c} low = ({c})1, high = ({c})-1;", "at[0] = high;"]
    for name, operator in CMP:
        for right in ("low", "high"):
            done = call("at", f"SHMEM_CMP_{name}", right)
            if verb == "test":
                lines.append(call.expect(f"{done} == (high {operator} {right})", f"wrong answer for {name}"))
            else:
                lines.append(f"if (high {operator} {right}) {done};")
    lines += ["at[0] = 0;", "settle();", f"const {c} sent = ({c})0x7F0C;", "shmem_putmem(at, &sent, sizeof sent, peer);"]
    done = call("at", "SHMEM_CMP_EQ", "sent")
    lines.append(f"while (!{done}) continue;" if verb == "test" else f"{done};")
    return lines + [call.expect("at[0] == sent", "returned before the value arrived"), "settle();"]


def wait_change(call):
    c = call.c
    return ["ready();", f"{c} *at = {call.pointer('dest')};", f"const {c} sent = ({c})0x7F0C;",
            "shmem_putmem(at, &sent, sizeof sent, peer);", call("at", "0") + ";",
            call.expect("at[0] == sent", "returned before the value changed"), "settle();"]


def compare_many(call):
    """Four variables, the second masked out; `all` gets three arrivals, `any` and `some` only the third."""
    name = call.f.row.name
    c = call.c
    vector = name.endswith("_vector")
    which = next(word for word in ("all", "any", "some") if word in name.split("_"))
    want = "values" if vector else f"({c})-2"
    indices = ["indices"] if which == "some" else []
    done = call("at", "4", *indices, "mask", "SHMEM_CMP_EQ", want)
    arrivals = (0, 2, 3) if which == "all" else (2,)
    lines = ["ready();", f"{c} *at = {call.pointer('dest')};", "static const int mask[4] = {0, 1, 0, 0};",
             "size_t indices[4] = {9, 9, 9, 9};", "(void)indices;"]
    each = [f"({c})(-2 - {i})" if vector else f"({c})-2" for i in range(4)]
    lines.append(f"const {c} values[4] = {{{', '.join(each)}}};")
    if name.startswith("test"):
        nothing = "SIZE_MAX" if which == "any" else "0"
        lines += [call.expect(f"{done} == {nothing}", "says yes before anything arrived"), "settle();"]
    lines += [f"shmem_putmem(&at[{i}], &values[{i}], sizeof values[{i}], peer);" for i in arrivals]
    if which == "all":
        lines.append(f"while (!{done}) continue;" if name.startswith("test") else f"{done};")
        lines.append(call.expect("at[0] == values[0] && at[2] == values[2] && at[3] == values[3]", "returned too early"))
    elif which == "any":
        lines.append(f"size_t found = {done};")
        if name.startswith("test"):
            lines.append(f"while (found == SIZE_MAX) found = {done};")
        lines.append(call.expect("found == 2 && at[2] == values[2]", "wrong index"))
    else:
        lines.append(f"size_t found = {done};")
        if name.startswith("test"):
            lines.append(f"while (found == 0) found = {done};")
        lines.append(call.expect("found == 1 && indices[0] == 2 && at[2] == values[2]", "wrong count or index"))
    return lines + ["settle();"]


def put_signal(call):
    lines = []
    before, behind, last = tracking(call)
    for operation, left in (("SHMEM_SIGNAL_ADD", 12), ("SHMEM_SIGNAL_SET", 7)):
        lines += ["ready();", *before, call(call.pointer("dest"), call.pointer("source", True), "5", "&signal_word", "7",
                                            operation, "peer", *last) + ";", *behind,
                  f"shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, {left});", call.landed("origin", 1, 5), "settle();"]
    return lines


def team_collective(call):
    row, size = call.f.row, call.size
    before, behind, last = tracking(call)
    first = ["SHMEM_TEAM_WORLD", call.pointer("dest"), call.pointer("source", True)]
    extra, look = {
        "broadcast": (["3", "npes - 1"], f"clear(3 * {size}, 64) && holds(0, 3 * {size}, npes - 1, 0)"),
        "fcollect": (["3"], f"holds((size_t)pe * 3 * {size}, 3 * {size}, pe, 0)"),
        "collect": (["(size_t)me + 1"], f"holds((size_t)(pe * (pe + 1) / 2) * {size}, (size_t)(pe + 1) * {size}, pe, 0)"),
        "alltoall": (["3"], f"holds((size_t)pe * 3 * {size}, 3 * {size}, pe, (size_t)me * 3 * {size})"),
        "alltoalls": (["2", "3", "2"],
                      f"holds((size_t)pe * 4 * {size}, {size}, pe, (size_t)me * 6 * {size}) && "
                      f"holds(((size_t)pe * 4 + 2) * {size}, {size}, pe, ((size_t)me * 6 + 3) * {size})"),
    }[stem_of(row)]
    return ["ready();", *before, call.expect(f"{call(*first, *extra, *last)} == 0", "did not return 0"), *behind,
            "for (int pe = 0; pe < npes; pe++)", "    " + call.expect(look, "wrong bytes"), "settle();"]


def set_collective(call):
    """The same on the active set of all PEs. An old broadcast does not write the root's dest."""
    row = call.f.row
    stem, size = row.name[:-2], int(row.name[-2:]) // 8
    tail = ["0", "0", "npes", "sync_words"]
    first = ["dest", "source"]
    extra, look = {
        "broadcast": (["3", "npes - 1"], f"me == npes - 1 ? clear(0, 64) : holds(0, 3 * {size}, npes - 1, 0)"),
        "fcollect": (["3"], f"holds((size_t)pe * 3 * {size}, 3 * {size}, pe, 0)"),
        "collect": (["(size_t)me + 1"], f"holds((size_t)(pe * (pe + 1) / 2) * {size}, (size_t)(pe + 1) * {size}, pe, 0)"),
        "alltoall": (["3"], f"holds((size_t)pe * 3 * {size}, 3 * {size}, pe, (size_t)me * 3 * {size})"),
        "alltoalls": (["2", "3", "2"], f"holds((size_t)pe * 4 * {size}, {size}, pe, (size_t)me * 6 * {size})"),
    }[stem]
    return ["ready();", f"{call(*first, *extra, *tail)};", "for (int pe = 0; pe < npes; pe++)",
            "    " + call.expect(look, "wrong bytes"), "settle();"]


def reduction(call):
    """Uses elements that tell signed from unsigned and real from integer. A plain loop computes the expected values."""
    name, c = call.f.row.name, call.c
    operation = name.split("_")[0]
    before, behind, last = tracking(call)
    step = {"and": "({c})(acc & one)", "or": "({c})(acc | one)", "xor": "({c})(acc ^ one)",
            "sum": "({c})(acc + one)", "prod": "({c})(acc * one)",
            "min": "one < acc ? one : acc", "max": "one > acc ? one : acc"}[operation].format(c=c)
    to, of = call.pointer("dest"), call.pointer("source", True)
    if "to_all" in name:
        done = call(to, of, "3", "0", "0", "npes", f"({c} *)work", "sync_words") + ";"
    else:
        done = call.expect(f"{call('SHMEM_TEAM_WORLD', to, of, '3', *last)} == 0", "did not return 0")
    element = lambda pe: f"({c})({pe} * 2 + 3 - 2 * i)"
    last = {"sum_inscan": "me", "sum_exscan": "me - 1"}.get(name, "npes - 1")
    first = ["acc = 0, from = 0"] if "scan" in name else [f"acc = {element(0)}, from = 1"]
    init, begin = first[0].split(", ")
    return ["ready();", "for (int i = 0; i < 3; i++)", f"    ({call.pointer('source')})[i] = {element('me')};",
            f"({call.pointer('dest')})[3] = ({c})77;", "settle();", *before, done, *behind,
            "for (int i = 0; i < 3; i++) {", f"    {c} {init};",
            f"    for (int pe = {begin.split(' = ')[1]}; pe <= {last}; pe++) {{", f"        const {c} one = {element('pe')};",
            f"        acc = {step};", "    }", "    " + call.expect(f"({call.pointer('dest')})[i] == acc", "wrong result"), "}",
            call.expect(f"({call.pointer('dest')})[3] == ({c})77", "the element behind changed"), "settle();"]


def template(function):
    row = function.row
    if row.near in ("p", "g"):
        return element_put if row.near == "p" else element_get
    if row.near:
        return atomic
    if row.family == "counter":
        return counted if "#" in row.name else None
    stem = stem_of(row)
    if row.family == "rma" or (row.family == "nbe" and stem in ("put", "get", "iput", "iget")):
        return moved
    if stem.startswith("put_signal"):
        return put_signal
    if row.family == "p2p" and function.type:
        if row.name == "wait":
            return wait_change
        return compare_one if row.name in ("wait_until", "test") else compare_many
    if row.family == "coll":
        return team_collective if "#" in row.name else set_collective
    if row.family == "reduce" or stem.endswith("_reduce"):
        return reduction
    if row.family == "nbe":
        return team_collective if "#" in row.name else None
    return None


def block(function, spelling):
    make = template(function)
    lines = make(Call(function, spelling))
    body = "".join(f"    {line}\n" if line not in ("{", "}") else f"{line}\n" for line in lines)
    # A template may close and open a block between two rounds.
    return f"static void call_{function.name}(void)\n{{\n{{\n{body}}}\n}}\n\n"


def source(functions, spelling):
    blocks = "".join(block(f, spelling) for f in functions)
    calls = "".join(f"    call_{f.name}();\n" for f in functions)
    return (headers.file_comment("Calls of every function of some families, by one spelling.") + blocks
            + f"static unsigned long call_all(void)\n{{\n{calls}    return {len(functions)};\n}}\n")


def aliases(functions):
    """Every public name must be the weak twin of its profiling name."""
    rows = "".join(f'    {{"{f.name}", (void (*)(void)){f.name}, (void (*)(void))p{f.name}}},\n' for f in functions)
    return (headers.file_comment("Every public function beside its profiling name.")
            + "static const struct twin {\n    const char *name;\n    void (*own)(void);\n    void (*profiling)(void);\n"
            f"}} twins[] = {{\n{rows}}};\n")


GROUPS = {"rma": ("rma", "signal"), "amo": ("amo",), "p2p": ("p2p",), "coll": ("coll", "reduce"),
          "nbe": ("nbe",), "counter": ("counter",)}


def by_hand(functions):
    """Returns the names that tests/symbols/plain.c has to call itself."""
    return [f.name for f in functions if not template(f)]


def write(out, functions, generics):
    generic = [f for g in generics for _, f in g.plain + g.ctx]
    for group, families in GROUPS.items():
        wanted = [f for f in functions if f.row.family in families and template(f)]
        out.write(f"tests/calls_{group}.h", source(wanted, "c"))
        named = [f for f in generic if f.row.family in families]
        out.write(f"tests/generic_{group}.h", source(named, "generic"))
    out.write("tests/twins.h", aliases(functions))
    out.write("tests/by_hand.txt", "\n".join(by_hand(functions)) + "\n")
