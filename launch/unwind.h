/* Callers of a place in a halted process, by the tables that compilers leave for exceptions (.eh_frame). One thread. */
#ifndef LAUNCH_UNWIND_H
#define LAUNCH_UNWIND_H

#include "place.h"

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

/* Reads both of a thread that ptrace has halted. Returns false when it cannot. */
bool unwind_read(struct unwind *unwind, pid_t pid);

/* Goes to the caller: `counter` is a return address then. `inner`: the counter was none so far. Returns false at the
 * outermost function, and where the tables tell nothing. */
bool unwind_step(struct unwind *unwind, const struct maps *maps, bool inner);

#endif
