/* Short operations on memory that the node does not map, executed by an owner that polls at this moment. Any thread.
 *
 * The kernel's copy is a system call, an atomic two of them; an owner that polls does the same by loads and stores between two polls. Each PE
 * has one slot for that (uccs_pe_shared), whose state says who has it:
 *
 *   SHUT --owner polls--> OPEN --origin--> TAKEN --origin fills it--> POSTED --owner polls--> RUNNING --owner--> DONE --origin--> OPEN
 *    ^------------------------------origin takes it back---------------'
 *
 * Data flow: the origin changes OPEN to TAKEN (acquire), writes the call and its operand, and stores POSTED (release). A thread of the
 * owner that polls changes POSTED to RUNNING (acquire), executes the call as it does those of messages (remote.c), writes status and old
 * values, and stores DONE (release). The origin reads them (acquire) and stores OPEN (release). Taking back and opening are changes of
 * what POSTED has released, so the next origin acquires that, too.
 *
 * No operation waits for an owner that computes. A poll of the program's threads opens the slot, the progress thread leaves it shut, and
 * an origin whose call has lain there for about as long as the kernel takes changes POSTED to SHUT and asks the kernel. When the owner was first, the
 * call is some stores long. An origin whose call came late omits the slot for the next 0, 1, 3, 7, ... operations, so an owner that polls too
 * seldom costs little. An origin that finds the slot in use asks the kernel. One that waits serves its own slot: two that call each
 * other go on.
 *
 * Atomicity and order are those of the kernel's way: either changes elements under the owner's stripe locks (mem/accumulate.h), and the
 * operation is done when the function returns.
 *
 * The kernel tells whether memory is there, the owner would end by a signal. So the first operation of this process on a page of a registration,
 * in either direction, is the kernel's; behind a page that it has reached the owner trusts its program, as it does for messages. */
#include "uccs/am/inner.h"

#include "base/clock.h"
#include "uccs/core/doorbell.h"
#include "uccs/mem/dynamic.h"

enum {
    PAGE = 4096,    /* the smallest one */
    PAGES = 1024,   /* that this process remembers */
    LOOKS = 8,      /* at the slot between two at the clock */
    OMIT_MOST = 63, /* operations */
};

struct call {
    cache_aligned uint32_t state; /* enum uccs_call_state */
    struct uccs_remote_call what;
    char data[UCCS_SHORT_MAX]; /* the operand, then the old values */
};
_Static_assert(sizeof(struct call) <= sizeof(struct uccs_call_slot), "a call fits a slot");

static struct call *call_of(uint32_t index)
{
    return (struct call *)&uccs_pe_shared_of(index)->call;
}

/* --- At the owner */

int uccs_call_execute(const struct uccs_remote_call *call, const void *operand, void *old)
{
    const size_t bytes = uccs_accumulate_bytes(&call->what);
    char *here = (char *)(uintptr_t)call->offset;
    int status = call->generation
                     ? uccs_region_find(uccs_region_id(call->slot, call->generation), call->offset, bytes, &here)
                     : UCCS_OK;
    if (status != UCCS_OK)
        return status;
    if (call->copies) {
        memcpy(call->wanted ? old : here, call->wanted ? here : operand, bytes);
        return UCCS_OK;
    }
    const struct uccs_accumulate_target place = {uccs_core.me, UCCS_DOMAIN_LOCKED, (uintptr_t)here, here, 0};
    return uccs_accumulate_apply(&call->what, &place, operand, call->wanted ? old : 0);
}

/* Every process of the node can write to the slot, so the copy is checked. */
static int execute_checked(struct call *call)
{
    const struct uccs_remote_call what = call->what;
    if (!uccs_accumulate_exists(&what.what) || what.what.n > sizeof call->data || !what.generation)
        return UCCS_ERR_INVALID;
    const size_t operand = uccs_accumulate_operand(&what.what), bytes = uccs_accumulate_bytes(&what.what);
    if (bytes > sizeof call->data || operand + (what.wanted ? bytes : 0) > sizeof call->data)
        return UCCS_ERR_INVALID;
    return uccs_call_execute(&what, call->data, call->data + operand);
}

lat_cold int uccs_call_serve_slow(void)
{
    struct call *call = call_of(uccs_core.index);
    uint32_t state = UCCS_CALL_SHUT;
    if (!uccs_progress_thread_me && atomic_load_relaxed(&uccs_pe_shared_mine()->word))
        (void)atomic_cas_relaxed(&call->state, &state, UCCS_CALL_OPEN); /* what is there of former calls nobody reads */
    state = UCCS_CALL_POSTED;
    if (!atomic_cas_acquire(&call->state, &state, UCCS_CALL_RUNNING)) /* release: run_at_owner */
        return 0;
    call->what.status = execute_checked(call);
    atomic_store_release(&call->state, UCCS_CALL_DONE); /* acquire: wait_for_owner */
    return 1;
}

/* --- At the origin */

static uint64_t pages[PAGES]; /* digests of pages that the kernel has reached; relaxed: each says all by itself */
static uint64_t fastest = UINT64_MAX; /* nanoseconds of a copy by the kernel; relaxed, a hint */
static struct {
    uint8_t left, next; /* operations that omit the slot: from now on, and behind the next late call; relaxed, hints */
} omits[NODE_MAX_PES];  /* by node index */

/* Returns where to look for page, registration and direction; stores their digest. */
static uint64_t *page_of(const struct uccs_access *a, uint64_t *digest)
{
    const struct uccs_region *memory = a->memory;
    const uint64_t page = (memory->address + a->offset) / PAGE * 2 + (a->what.how != UCCS_NO_OP);
    const uint64_t mixed = page * UINT64_C(0x9E3779B97F4A7C15) ^ uccs_region_id(memory->slot, memory->generation);
    *digest = (mixed ^ mixed >> 32) * UINT64_C(0xBF58476D1CE4E5B9) + (uint64_t)memory->owner;
    return &pages[(*digest >> 32) % PAGES];
}

/* Returns true when call and answer fit the slot, and the elements a page. */
static bool is_short(const struct uccs_access *a)
{
    const size_t bytes = uccs_accumulate_bytes(&a->what);
    return bytes && bytes <= UCCS_SHORT_MAX &&
           uccs_accumulate_operand(&a->what) + (a->result ? bytes : 0) <= UCCS_SHORT_MAX &&
           (a->memory->address + a->offset) % PAGE + bytes <= PAGE;
}

/* Waits for the answer. Returns UCCS_CALL_SHUT when it has taken the call back. Sets `late` when the kernel would have been faster. */
static enum uccs_call_state wait_for_owner(struct call *call, uint64_t limit, bool *late)
{
    struct uccs_wait wait uccs_scoped = {0};
    uint64_t start = 0;
    uint32_t state;
    for (int looks = 1; (state = atomic_load_acquire(&call->state)) != UCCS_CALL_DONE;
         looks++) { /* release: the owner */
        if (*late && state == UCCS_CALL_POSTED && atomic_cas_relaxed(&call->state, &state, UCCS_CALL_SHUT))
            return UCCS_CALL_SHUT; /* partner: the owner's change to RUNNING */
        if (*late)
            uccs_rest(&wait);
        else if (looks % LOOKS == 0 && !start)
            start = clock_nanoseconds();
        else if (looks % LOOKS == 0)
            *late = clock_nanoseconds() - start > limit;
        (void)uccs_call_serve();
        atomic_relax(); /* a look takes the line from the owner */
    }
    return UCCS_CALL_DONE;
}

/* Notes how the call went. */
static void count_call(uint32_t index, bool late)
{
    const uint8_t next = atomic_load_relaxed(&omits[index].next);
    if (late)
        atomic_store_relaxed(&omits[index].left, next);
    if (late || next)
        atomic_store_relaxed(&omits[index].next, (uint8_t)(!late ? 0 : next < OMIT_MOST ? 2 * next + 1 : next));
}

/* Returns false when the kernel must do it; sets `late` when the owner has not come. */
static bool run_at_owner(const struct uccs_access *a, int *status, bool *late)
{
    const struct uccs_region *memory = a->memory;
    const uint32_t index = uccs_index(memory->owner);
    struct call *call = call_of(index);
    const size_t operand = uccs_accumulate_operand(&a->what);
    const uint8_t omit = atomic_load_relaxed(&omits[index].left);
    uint32_t state = UCCS_CALL_OPEN;
    if (omit)
        atomic_store_relaxed(&omits[index].left, (uint8_t)(omit - 1));
    if (omit || atomic_load_relaxed(&call->state) != UCCS_CALL_OPEN ||
        !atomic_cas_acquire(&call->state, &state, UCCS_CALL_TAKEN)) /* release: the last origin */
        return false;
    call->what = (struct uccs_remote_call){.what = a->what,
                                           .copies = a->copies,
                                           .wanted = a->result != 0,
                                           .offset = a->offset,
                                           .slot = memory->slot,
                                           .generation = memory->generation};
    memcpy(call->data, a->operand ? a->operand : call->data, operand);
    atomic_store_release(&call->state, UCCS_CALL_POSTED); /* acquire: the owner */
    state = wait_for_owner(call, atomic_load_relaxed(&fastest) << !a->copies, late);
    if (state == UCCS_CALL_DONE) {
        *status = call->what.status;
        if (a->result && *status == UCCS_OK)
            memcpy(a->result, call->data + operand, uccs_accumulate_bytes(&a->what));
        atomic_store_release(&call->state, UCCS_CALL_OPEN); /* acquire: the next origin */
    }
    count_call(index, *late);
    return state == UCCS_CALL_DONE;
}

static int run_by_kernel(const struct uccs_access *a)
{
    const struct uccs_region *memory = a->memory;
    const struct uccs_accumulate_target place = {memory->owner, UCCS_DOMAIN_LOCKED, memory->address + a->offset, 0,
                                                 memory};
    if (!a->copies)
        return uccs_accumulate_apply(&a->what, &place, a->operand, a->result);
    return a->operand ? uccs_cma_put(memory, a->offset, a->operand, a->what.n)
                      : uccs_cma_get(memory, a->offset, a->result, a->what.n);
}

int uccs_call_or_copy(const struct uccs_access *a)
{
    int status = UCCS_OK;
    bool late = false;
    uint64_t digest;
    if (!uccs_core.spin || !a->memory->generation || !is_short(a))
        return run_by_kernel(a);
    uint64_t *page = page_of(a, &digest);
    const bool known = atomic_load_relaxed(page) == digest;
    if (known && run_at_owner(a, &status, &late))
        return status;
    if (known && !late)
        return run_by_kernel(a);
    const uint64_t start = clock_nanoseconds();
    if ((status = run_by_kernel(a)) != UCCS_OK)
        return status;
    const uint64_t took = (clock_nanoseconds() - start) >> !a->copies; /* a change copies twice */
    if (took < atomic_load_relaxed(&fastest))
        atomic_store_relaxed(&fastest, took);
    atomic_store_relaxed(page, digest);
    return UCCS_OK;
}
