#include "location.h"

#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#define UNWIND_REGISTERS 33      /* by DWARF's numbers: x86-64 has 17, aarch64 32 */
#define UNWIND_STACK (64u << 10) /* bytes of the stack that are looked at */

/* What a halted thread has: its registers, and the innermost part of its stack. */
struct unwind {
    uint64_t counter; /* the next instruction; 0: not known on this processor */
    uint64_t reg[UNWIND_REGISTERS];
    uint64_t stack_at;
    size_t stack_bytes;
    char stack[UNWIND_STACK];
};

/* The tables of a file say for each instruction where the frame of the caller begins (the CFA), and where in it registers are saved,
 * as a small program: DWARF 5, section 6.4. Rules that need DWARF's expressions are not followed; compilers use them for stubs alone. */
#if defined __x86_64__
enum { STACK = 7, RETURN = 16, USED = 17 };
#else
enum { STACK = 31, RETURN = 30, USED = 32 };
#endif
#define PAGE 4096u
#define DEPTH 8 /* of states that a program remembers */
enum { PCREL_SDATA4 = 0x1b, UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b };

/* ---- the process ---- */

static bool read_registers(struct unwind *unwind, pid_t pid)
{
    struct user_regs_struct r;
    struct iovec io = {&r, sizeof r};
    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &io) != 0)
        return false;
#if defined __x86_64__
    const uint64_t all[] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                            r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
    memcpy(unwind->reg, all, sizeof all);
    unwind->counter = r.rip;
#elif defined __aarch64__
    memcpy(unwind->reg, r.regs, 31 * sizeof *unwind->reg);
    unwind->reg[STACK] = r.sp;
    unwind->counter = r.pc;
#endif
    return unwind->counter != 0;
}

/* Reads registers and stack of a thread that ptrace has halted. Returns false when it cannot. */
static bool unwind_read(struct unwind *unwind, pid_t pid)
{
    struct iovec here = {unwind->stack, UNWIND_STACK}, there[UNWIND_STACK / PAGE + 1];
    size_t parts = 0;
    *unwind = (struct unwind){0};
    if (!read_registers(unwind, pid))
        return false;
    uint64_t at = unwind->stack_at = unwind->reg[STACK], end = at + UNWIND_STACK;
    for (; at < end; parts++) { /* the stack may end sooner: whole parts are read */
        const uint64_t next = (at / PAGE + 1) * PAGE < end ? (at / PAGE + 1) * PAGE : end;
        there[parts] = (struct iovec){(void *)(uintptr_t)at, next - at};
        at = next;
    }
    const ssize_t bytes = process_vm_readv(pid, &here, 1, there, parts, 0);
    unwind->stack_bytes = bytes > 0 ? (size_t)bytes : 0;
    return true;
}

static bool load_word(const struct unwind *unwind, uint64_t at, uint64_t *value)
{
    const uint64_t offset = at - unwind->stack_at;
    if (offset > UNWIND_STACK || offset + sizeof *value > unwind->stack_bytes)
        return false;
    memcpy(value, unwind->stack + offset, sizeof *value);
    return true;
}

/* ---- the tables ---- */

/* Bytes that are read in turn; `good` becomes false at their end. */
struct bytes {
    const unsigned char *at, *end;
    bool good;
};

static uint64_t take_bytes(struct bytes *bytes, size_t size)
{
    uint64_t value = 0;
    if ((size_t)(bytes->end - bytes->at) < size) {
        bytes->good = false;
        bytes->at = bytes->end;
        return 0;
    }
    memcpy(&value, bytes->at, size); /* both processors are little-endian */
    bytes->at += size;
    return value;
}

static uint64_t take_leb(struct bytes *bytes, bool is_signed)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = take_bytes(bytes, 1);
        value |= shift < 64 ? (byte & 127) << shift : 0;
        shift += 7;
    } while (byte & 128 && bytes->good);
    return is_signed && byte & 64 && shift < 64 ? value | ~UINT64_C(0) << shift : value;
}

/* The bytes of a file from an address on. */
static struct bytes bytes_at(const struct elf *elf, uint64_t address)
{
    uint64_t size = 0;
    const unsigned char *at = elf_memory(elf, address, &size);
    return (struct bytes){at, at + size, at != NULL};
}

/* The entry of .eh_frame at an address, behind its length. */
static struct bytes entry_at(const struct elf *elf, uint64_t address)
{
    struct bytes entry = bytes_at(elf, address);
    const uint64_t length = take_bytes(&entry, 4);
    if (length >= 0xffffffff || length > (uint64_t)(entry.end - entry.at))
        entry.good = false;
    else
        entry.end = entry.at + length;
    return entry;
}

/* Looks the entry of a function up in the sorted table. Returns its address, or 0. */
static uint64_t find_sorted(const struct elf *elf, uint64_t head, uint64_t address)
{
    struct bytes table = bytes_at(elf, head);
    const uint64_t kinds = take_bytes(&table, 4); /* version, kind of a pointer, of the count, of the table */
    if (kinds != (1 | PCREL_SDATA4 << 8 | UDATA4 << 16 | (uint64_t)DATAREL_SDATA4 << 24))
        return 0;
    take_bytes(&table, 4);
    uint64_t low = 0, high = take_bytes(&table, 4);
    if (!table.good || high > (uint64_t)(table.end - table.at) / 8)
        return 0;
    const unsigned char *first = table.at;
    int32_t pair[2] = {0};
    while (low < high) { /* the last one that does not begin behind the address */
        const uint64_t middle = (low + high) / 2;
        memcpy(pair, first + 8 * middle, sizeof pair);
        if (head + (uint64_t)(int64_t)pair[0] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return 0;
    memcpy(pair, first + 8 * (low - 1), sizeof pair);
    return head + (uint64_t)(int64_t)pair[1];
}

/* Finds the entry where the file has no sorted table: static programs of some linkers. */
static uint64_t find_unsorted(const struct elf *elf, uint64_t address)
{
    uint64_t bytes, at = elf_frames(elf, &bytes), end = at + bytes;
    while (at && at < end) {
        struct bytes entry = entry_at(elf, at);
        const uint64_t length = (uint64_t)(entry.end - entry.at), id = take_bytes(&entry, 4);
        const uint64_t start = at + 8 + (uint64_t)(int64_t)(int32_t)take_bytes(&entry, 4), size = take_bytes(&entry, 4);
        if (!entry.good)
            return 0;
        if (id && address - start < size)
            return at;
        at += 4 + length;
    }
    return 0;
}

static uint64_t find_entry(const struct elf *elf, uint64_t address)
{
    const uint64_t table = elf_frame_table(elf);
    return table ? find_sorted(elf, table, address) : find_unsorted(elf, address);
}

/* ---- the rules ---- */

enum how { KEPT, SAVED, LOST };

struct rules {
    uint64_t cfa_register;
    int64_t cfa_offset;
    bool strange; /* the CFA needs an expression */
    uint8_t how[UNWIND_REGISTERS];
    int64_t offset[UNWIND_REGISTERS];
};

struct program {
    struct bytes code;
    uint64_t at, until; /* addresses of instructions */
    uint64_t step;
    int64_t scale;
    struct rules now, first, kept[DEPTH];
    int depth;
};

static void set_rule(struct program *p, uint64_t number, enum how how, int64_t offset)
{
    if (number < UNWIND_REGISTERS) {
        p->now.how[number] = how;
        p->now.offset[number] = offset * p->scale;
    }
}

static void restore_rule(struct program *p, uint64_t number)
{
    if (number < UNWIND_REGISTERS) {
        p->now.how[number] = p->first.how[number];
        p->now.offset[number] = p->first.offset[number];
    }
}

static void skip_block(struct program *p)
{
    const uint64_t bytes = take_leb(&p->code, false);
    if (bytes > (uint64_t)(p->code.end - p->code.at))
        p->code.good = false;
    else
        p->code.at += bytes;
}

static void keep_state(struct program *p, bool back)
{
    if (back ? p->depth == 0 : p->depth == DEPTH)
        p->code.good = false;
    else if (back)
        p->now = p->kept[--p->depth];
    else
        p->kept[p->depth++] = p->now;
}

static void set_cfa(struct program *p, uint64_t number, int64_t offset)
{
    p->now.cfa_register = number;
    p->now.cfa_offset = offset;
    p->now.strange = false;
}

/* Rules whose place is in another register, or an expression, are lost. */
static void run_one(struct program *p)
{
    struct bytes *code = &p->code;
    const unsigned byte = (unsigned)take_bytes(code, 1), op = byte & 0xc0 ? byte & 0xc0 : byte;
    static const uint64_t numbered = 0x5733e0; /* codes, as bits, whose first operand is a register */
    const uint64_t number = op < 0x40 && numbered >> op & 1 ? take_leb(code, false) : byte & 63;
    switch (op) {
    case 0x40: p->at += number * p->step; break;
    case 0x02: p->at += take_bytes(code, 1) * p->step; break;
    case 0x03: p->at += take_bytes(code, 2) * p->step; break;
    case 0x04: p->at += take_bytes(code, 4) * p->step; break;
    case 0x05:
    case 0x80: set_rule(p, number, SAVED, (int64_t)take_leb(code, false)); break;
    case 0x11: set_rule(p, number, SAVED, (int64_t)take_leb(code, true)); break;
    case 0x06:
    case 0xc0: restore_rule(p, number); break;
    case 0x08: set_rule(p, number, KEPT, 0); break;
    case 0x09:
    case 0x14: take_leb(code, false); __attribute__((fallthrough));
    case 0x07: set_rule(p, number, LOST, 0); break;
    case 0x10:
    case 0x16:
        skip_block(p);
        set_rule(p, number, LOST, 0);
        break;
    case 0x0a:
    case 0x0b: keep_state(p, op == 0x0b); break;
    case 0x0c: set_cfa(p, number, (int64_t)take_leb(code, false)); break;
    case 0x0d: set_cfa(p, number, p->now.cfa_offset); break;
    case 0x0e: set_cfa(p, p->now.cfa_register, (int64_t)take_leb(code, false)); break;
    case 0x12: set_cfa(p, number, (int64_t)take_leb(code, true) * p->scale); break;
    case 0x13: set_cfa(p, p->now.cfa_register, (int64_t)take_leb(code, true) * p->scale); break;
    case 0x0f:
        skip_block(p);
        p->now.strange = true;
        break;
    case 0x2e: take_leb(code, false); break;
    case 0x00:
    case 0x2d: break; /* return addresses are signed from here on, or not: see apply_rules */
    default: code->good = false; break;
    }
}

static void run_rules(struct program *p)
{
    while (p->code.good && p->code.at < p->code.end && p->at <= p->until) {
        const struct rules before = p->now;
        run_one(p);
        if (p->at > p->until)
            p->now = before;
    }
}

/* Reads what the functions of a file have in common, and runs its part. `more` tells whether entries have data of their own. */
static bool run_common(struct program *p, const struct elf *elf, uint64_t address, bool *more)
{
    struct bytes *code = &p->code;
    *code = entry_at(elf, address);
    const uint64_t id = take_bytes(code, 4), version = take_bytes(code, 1);
    const char *letters = (const char *)code->at;
    const void *end = code->good ? memchr(code->at, 0, (size_t)(code->end - code->at)) : NULL;
    if (id != 0 || version != 1 || !end || (*letters && *letters != 'z') || strchr(letters, 'S'))
        return false;
    code->at = (const unsigned char *)end + 1;
    p->step = take_leb(code, false);
    p->scale = (int64_t)take_leb(code, true);
    if (take_bytes(code, 1) != RETURN)
        return false;
    *more = *letters == 'z';
    if (*more)
        skip_block(p); /* pointers are PCREL_SDATA4, as the table's order says */
    run_rules(p);
    p->first = p->now;
    return code->good;
}

/* Finds the rules at an address. Returns false when the tables do not tell them. */
static bool find_rules(struct program *p, const struct elf *elf, uint64_t address)
{
    bool more;
    const uint64_t entry = find_entry(elf, address);
    struct bytes own = entry_at(elf, entry);
    const uint64_t back = entry ? take_bytes(&own, 4) : 0;
    if (!back || !own.good)
        return false;
    *p = (struct program){.until = UINT64_MAX};
    if (!run_common(p, elf, entry + 4 - back, &more))
        return false;
    const uint64_t start = entry + 8 + (uint64_t)(int64_t)(int32_t)take_bytes(&own, 4), bytes = take_bytes(&own, 4);
    if (address < start || address - start >= bytes)
        return false;
    p->code = own;
    p->at = start;
    p->until = address;
    if (more)
        skip_block(p);
    run_rules(p);
    return p->code.good && !p->now.strange && p->now.cfa_register < USED;
}

/* Replaces the registers by the caller's. */
static bool apply_rules(struct unwind *unwind, const struct rules *rules)
{
    uint64_t caller[UNWIND_REGISTERS];
    const uint64_t cfa = unwind->reg[rules->cfa_register] + (uint64_t)rules->cfa_offset;
    if (cfa <= unwind->reg[STACK] && rules->how[RETURN] == SAVED) /* frames grow outwards */
        return false;
    memcpy(caller, unwind->reg, sizeof caller);
    for (int i = 0; i < USED; i++)
        if (rules->how[i] == SAVED && !load_word(unwind, cfa + (uint64_t)rules->offset[i], &caller[i]))
            return false;
    caller[STACK] = cfa;
    memcpy(unwind->reg, caller, sizeof caller);
    unwind->counter = caller[RETURN] & ((UINT64_C(1) << 48) - 1); /* without aarch64's signature */
    return rules->how[RETURN] != LOST && unwind->counter != 0;
}

/* Goes to the caller: `counter` is a return address then. `inner`: the counter was none so far. Returns false at the
 * outermost function, and where the tables tell nothing. */
static bool unwind_step(struct unwind *unwind, const struct maps *maps, bool inner)
{
    static struct program program; /* large */
    struct code_location place = code_location_of(maps, unwind->counter - !inner);
    return place.elf && find_rules(&program, place.elf, place.address) && apply_rules(unwind, &program.now);
}

#define FRAMES 64
#define TRIES 8        /* callers whose line is looked up */
#define HALT_LOOKS 200 /* of a millisecond each: a process in the kernel may not halt at once */

/* Waits until the process has halted. A process that ends meanwhile is left for its parent to reap. */
static bool await_halt(pid_t pid)
{
    for (int i = 0; i < HALT_LOOKS; i++) {
        siginfo_t info = {0};
        struct timespec pause = {0, 1000000};
        if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) != 0)
            return false;
        if (info.si_pid == pid && (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED))
            return waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | __WALL) == 0;
        if (info.si_pid == pid)
            return false;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* Files of the system that a program calls into: where it sleeps or reads is not where it has come from. */
static bool is_of_system(struct code_location place)
{
    static const char *const fronts[] = {"liblateral", "libc.so",      "libc-",       "ld-",      "libpthread",
                                         "librt",      "libstdc++.so", "libgcc_s.so", "libc++.so"};
    const char *slash = place.elf ? strrchr(place.elf->path, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof fronts / sizeof *fronts; i++)
        if (strncmp(slash + 1, fronts[i], strlen(fronts[i])) == 0)
            return true;
    return !place.elf; /* code of the kernel that is mapped */
}

/* Adds the function that the program has called: it may be one that waits, of the MPI say. */
static void write_called(struct code_location place, char *text, size_t room)
{
    uint64_t start;
    const char *name = place.elf ? elf_function(place.elf, place.address - 1, &start) : NULL;
    const size_t used = strlen(text);
    if (name && used + 5 < room) {
        memcpy(text + used, ", in ", 5);
        location_call(name, text + used + 5, room - used - 5);
    }
}

/* Writes the source line of the innermost caller that has one, outside of the system's files, and what it has called there; else the innermost
 * caller; else where the process is. */
static void write_caller(struct unwind *unwind, const struct maps *maps, char *text, size_t room)
{
    struct code_location first = code_location_of(maps, unwind->counter + 1), outside = {0}, called = {0};
    int tries = 0;
    for (int depth = 0; depth < FRAMES && tries < TRIES; depth++) {
        /* A line is looked up before a return address; the first is none. */
        struct code_location place = code_location_of(maps, unwind->counter + (depth == 0));
        if (!is_of_system(place)) {
            outside = outside.elf ? outside : place;
            tries++;
            if (location_line(place, text, room)) {
                write_called(called, text, room);
                return;
            }
        }
        called = place;
        if (!unwind_step(unwind, maps, depth == 0))
            break;
    }
    location_line(outside.elf ? outside : first, text, room);
}

void halt_where(pid_t pid, char *text, size_t room)
{
    static struct unwind unwind; /* large */
    text[0] = 0;
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) != 0)
        return;
    bool halted = ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0 && await_halt(pid);
    bool read = halted && unwind_read(&unwind, pid);
    ptrace(PTRACE_DETACH, pid, NULL,
           NULL); /* fails only when it has not halted; the end of this process detaches too */
    if (!read)
        return;
    struct maps maps;
    maps_read(&maps, pid);
    write_caller(&unwind, &maps, text, room);
    maps_free(&maps);
}
