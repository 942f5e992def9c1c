#!/usr/bin/env python3
"""Writes the wrappers of oshrun --check=race: what each call does to memory and order is told to calls.c.

Reads the table of functions (api/generate.py --json) from standard input, writes C to standard output.
"""
import json
import re
import sys

HEAD = """/* Made by wrappers.py. */
#define SHMEM_NO_DEPRECATED_WARNINGS
#include <pshmem.h>
#include <shmemx.h>
#include "race.h"

#define FROM __builtin_return_address(0)
"""
OWN = ("nowhere", "load", "store", "atomic access", "copy")
ELEMENT = {"float": 4, "double": 8}


class Wrapper:
    """The lines around the real call of one function."""

    def __init__(self, number, function):
        self.f, self.number = function, number
        self.params = {p["name"]: p["type"] for p in function["params"]}
        self.name = function["name"]
        self.before, self.after, self.tail = [], [], []

    def has(self, *names):
        return all(name in self.params for name in names)

    def element(self):
        target = next((self.params[n] for n in ("dest", "source", "ivar", "ivars", "sig_addr", "fetch") if n in self.params), "char *")
        kind = target.replace("const", "").rstrip(" *").strip()
        if kind != "void":
            return f"sizeof({kind})"
        digits = re.search(r"(?:put|get|broadcast|collect|alltoall|alltoalls)(8|16|32|64|128)(?![0-9])", self.name)
        return str(int(digits[1]) // 8) if digits else "1"

    def operation(self):
        return "sig_op" if self.has("sig_op") else "SHMEM_SIGNAL_ADD" if "add" in self.name else "SHMEM_SIGNAL_SET"

    def call(self, tracked=False):
        ctx = "ctx" if self.f["context"] else "SHMEM_CTX_DEFAULT"
        tracked = "true" if tracked or self.has("req") or self.has("ct") else "false"
        self.before.append(f"struct race_call call = race_call_of({self.number}, FROM, {ctx}, pe, {tracked});")

    def text(self):
        f, name = self.f, self.name
        arguments = ", ".join(self.params)
        void = f["result"].strip() == "void"
        real = f"p{name}({arguments})"
        head = f["prototype"].replace(name, f"({name})", 1)
        result = f["result"].strip()
        gap = "" if result.endswith("*") else " "
        lines = [*self.before, f"{real};" if void else f"{result}{gap}result = {real};", *self.after]
        if not void:
            lines.append("return result;")
        return head + "\n{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


def move(w):
    """put and get in all their forms."""
    name = w.name
    put, size = "put" in name or name.endswith("_p"), w.element()
    stays = "true" if re.search(r"_nbi$|_nbe$|_ct$", name) and not re.search(r"_ct$", name) else "false"
    counted, signal = w.has("ct"), w.has("sig_addr")
    w.call()
    carried = "true" if counted or signal else "false"
    if w.has("dst"):
        block, blocks = ("bsize", "nblocks") if w.has("bsize") else ("1", "nelems")
        w.before.append(f"race_strided(&call, {'true' if put else 'false'}, dest, source, dst, sst, {block}, {blocks}, {size}, {carried});")
    elif put:
        source = "source" if w.has("source") else "0"
        bytes_ = f"nelems * {size}" if w.has("nelems") else size
        w.before.append(f"race_put(&call, dest, {source}, {bytes_}, {stays}, {carried});")
    else:
        dest = "dest" if w.has("dest") else "0"
        bytes_ = f"nelems * {size}" if w.has("nelems") else size
        w.before.append(f"race_get(&call, {dest}, source, {bytes_}, {stays});")
    if signal:
        w.before.append(f"race_signal(&call, sig_addr, {w.operation()}, true);")
    if counted:
        w.before.append("race_counted(&call, ct, true);")


def atomic(w):
    name = w.name
    target = "dest" if w.has("dest") else "source"
    loads = bool(re.search(r"atomic_fetch(_nb[ie])?$|_[a-z0-9]+_fetch$", name)) and target == "source"
    stays = w.has("fetch")
    returns = w.f["result"].strip() != "void"
    w.call()
    fetch = "fetch" if stays else target if returns else "0"
    kind = f"RACE_TYPE({w.element()[len('sizeof('):-1]})"
    w.before.append(f"race_atomic(&call, {target}, {w.element()}, {kind}, {'true' if loads else 'false'}, {fetch}, {'true' if stays else 'false'});")
    if returns:
        w.after.append(f"race_atomic_done(&call, {target});")


def wait(w):
    name, size = w.name, w.element()
    test = "_test" in name
    if w.has("sig_addr"):
        w.after.append("race_waited(sig_addr, sizeof *sig_addr);")
    elif w.has("ivar"):
        w.after.append(("if (result)\n        " if test else "") + "race_waited(ivar, sizeof *ivar);")
    elif "_some" in name:
        w.after += ["for (size_t i = 0; i < result; i++)", "    race_waited(&ivars[indices[i]], sizeof *ivars);"]
    elif "_any" in name:
        w.after += ["if (result != SIZE_MAX)", "    race_waited(&ivars[result], sizeof *ivars);"]
    else:
        w.after += [("if (result)\n        " if test else "") + "for (size_t i = 0; i < nelems; i++)",
                    ("    " if test else "") + "    if (!status || !status[i])",
                    ("    " if test else "") + "        race_waited(&ivars[i], sizeof *ivars);"]
    del size


def meet(w, learn="-1"):
    if w.has("PE_start"):
        w.before += ["struct race_meet meet;", "race_set(&meet, PE_start, logPE_stride, PE_size);"]
    else:
        team = next((n for n in ("team", "parent_team") if n in w.params), "SHMEM_TEAM_WORLD")
        w.before += ["struct race_meet meet;", f"race_team(&meet, {team});"]
    w.after.append(f"race_meet_end(&meet, {learn});")


def collective(w):
    name, size = w.name, w.element()
    members = "(size_t)PE_size" if w.has("PE_start") else "(size_t)pshmem_team_n_pes(team)"
    me_root = "meet.rank == PE_root" if w.has("PE_root") else ""
    count = "(size_t)nreduce" if w.has("nreduce") else "nelems"
    learn = "PE_root" if w.has("PE_root") else "-2" if "exscan" in name or "inscan" in name else "-1"
    if w.has("dst"):
        meet(w, learn)
        return
    many = f"{members} * {count} * {size}"
    reads = many if "alltoall" in name else f"{count} * {size}"
    writes = many if re.search("alltoall|fcollect", name) else f"{count} * {size}"
    meet(w, learn)
    if not w.has("PE_start"):
        w.before.insert(0, "if (!race_on || team == SHMEM_TEAM_INVALID)\n        return p" + f"{name}({', '.join(w.params)});")
    w.before.insert(len(w.before) - 2, f"race_reads({w.number}, FROM, source, {reads});" if not me_root else ";")
    if me_root:
        w.before = [line for line in w.before if line != ";"] + [f"if ({me_root})", f"    race_reads({w.number}, FROM, source, {reads});"]
    w.after.append(f"race_writes({w.number}, FROM, dest, {writes});" if not (me_root and w.has("PE_start")) else
                   f"if (!({me_root}))\n        race_writes({w.number}, FROM, dest, {writes});")


def order(w):
    name = w.name
    ctx = "race_class(ctx)" if w.f["context"] else "0"
    if name.endswith("pe_quiet"):
        w.after += ["for (size_t i = 0; race_on && i < npes; i++) {",
                    f"    struct race_call call = race_call_of({w.number}, FROM, {'ctx' if w.f['context'] else 'SHMEM_CTX_DEFAULT'}, target_pes[i], false);",
                    "    if (call.pe >= 0)", f"        race_quiet_pe({ctx}, call.pe);", "}"]
    elif name.endswith("quiet"):
        w.after += ["if (race_on)", f"    race_quiet({ctx});", "if (race_on)", "    race_quiet(RACE_TRACKED);"]
    elif name.endswith("fence"):
        w.before += ["if (race_on)", f"    race_fence({ctx});", "if (race_on)", "    race_fence(RACE_TRACKED);"]
    elif name.endswith("ctx_destroy"):
        w.before += ["if (race_on && ctx != SHMEM_CTX_INVALID)", "    race_quiet(race_class(ctx));"]
    elif name == "shmem_set_lock":
        w.after.append("race_lock(lock);")
    elif name == "shmem_test_lock":
        w.after += ["if (result == 0)", "    race_lock(lock);"]
    elif name == "shmem_clear_lock":
        w.before.append("race_unlock(lock);")
    elif re.search(r"barrier", name) or w.f["family"] == "memory":
        w.before += ["if (race_on)", "    race_quiet(0);", "if (race_on)", "    race_quiet(RACE_TRACKED);"]
        meet(w)
    else:
        meet(w)


def request(w):
    name = w.name
    if name == "shmemx_request_fence":
        w.before += ["if (race_on)", "    race_fence(RACE_TRACKED);"]
    elif "local" in name:
        w.after.append("if (race_on" + (" && result" if "test" in name else "") + ")\n        race_local_done(RACE_TRACKED);")
    elif "test_any" in name:
        w.after += ["if (result != SIZE_MAX)", "    race_requests_done();"]
    elif "test" in name:
        w.after += ["if (result)", "    race_requests_done();"]
    else:
        w.after.append("race_requests_done();")


def counter(w):
    name = w.name
    if w.has("pe"):
        w.call()
        w.before.append("race_counted(&call, ct, false);")
        if w.f["result"].strip() != "void" and "fetch" in name:
            w.after.append("race_count_waited(ct);")
    elif w.has("cts"):
        w.after += ["for (size_t i = 0; i < n; i++)", "    race_count_waited(cts[i]);"]
    elif re.search(r"ct_(wait|get|test|consume)", name) and w.params["ct"] == "shmemx_ct_t":
        w.after.append(("if (result)\n        " if "test" in name else "") + "race_count_waited(ct);")
    elif re.search(r"ct_(create|free)", name):
        w.before += ["if (race_on)", "    race_quiet(0);"]
        meet(w)


def fill(w):
    """Chooses what is told of a function. Returns false when there is nothing to tell."""
    family, name = w.f["family"], w.name
    if family == "nbe" and not w.has("pe"):
        team = "team" if w.has("team") else "SHMEM_TEAM_WORLD"
        w.before += ["if (race_on)", f"    race_later({team});"]
    elif re.search("atomic|_fadd$|_finc$|_cswap$|_swap$|_(inc|add|set|fetch)$", name) and family in ("amo", "nbe") and w.has("pe"):
        atomic(w)
    elif family in ("rma", "nbe") or w.has("dest", "source", "pe"):
        move(w)
    elif family == "signal" and w.has("pe"):
        w.call()
        w.before.append(f"race_signal(&call, sig_addr, {w.operation()}, false);")
    elif family in ("p2p", "signal"):
        wait(w)
    elif family in ("coll", "reduce"):
        collective(w)
    elif family in ("order", "memory") or re.search("team_split|team_destroy|shmem_ctx_destroy", name):
        order(w)
    elif family == "request" and re.search("wait|test|fence", name):
        request(w)
    elif family == "counter":
        counter(w)
    return w.before or w.after


def main():
    wanted = []
    for function in json.load(sys.stdin):
        if function["family"] in ("old",) or "..." in function["prototype"] or not function["name"].startswith("shmem"):
            continue
        w = Wrapper(len(OWN) + len(wanted), function)
        if fill(w):
            wanted.append(w)
    print(HEAD)
    if sys.argv[1:] == ["--names"]:     # a file of its own: who needs names needs no wrappers
        print("const char *const race_names[] = {" + ", ".join(f'"{n}"' for n in (*OWN, *(w.name for w in wanted))) + "};")
    else:
        print("\n".join(w.text() for w in wanted))


if __name__ == "__main__":
    main()
