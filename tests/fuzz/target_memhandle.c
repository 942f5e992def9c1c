/* Memory handles of the MPI layer from elsewhere, some of them under the right hashes: MPIX_Win_from_memhandle and
 * MPIX_Memhandle_release refuse them, or the window that is made has only memory that was exposed. handles.c runs on the
 * substrate; windows, whose life is the business of other files, are the plain structs here. */
#include "fuzz/fuzz.h"
#include "fuzz/world.h"

#include "base/siphash.h"
#include "mpi/control.h"
#include "mpi/family.h"
#include "mpi/hints.h"
#include "mpi/memory.h"
#include "mpi/streams.h"
#include "mpix_rma.h"
#include "rte/rte.h"

#include <stdlib.h>

enum { RANKS = 2, PARENT = 1, CHILD = 2, BYTES = 256, MEMORY_AT = 40, HASHED = 56 };
/* What an input's first byte asks for. */
enum { REHASH = 1, REHASH_MEMORY = 2, RELEASE_FIRST = 4, RELEASE_CHANGED = 16 };

static char *exposed; /* of the heap: a sanitizer knows its bounds */
static struct lmpi_window parent, child;
static struct lmpi_target child_targets[RANKS];
static struct lmpi_peer peers[RANKS];
static uccs_endpoint_t endpoint;
static bool child_lives;

/* --- What handles.c calls of other files */

struct lmpi_life lmpi_life;
uint64_t lmpi_windows_age = 1;
_Thread_local struct lmpi_last_windows lmpi_last_windows;

struct lmpi_window *lmpi_window_slow(MPI_Win handle)
{
    return handle == PARENT ? &parent : handle == CHILD && child_lives ? &child : 0;
}

int lmpi_error_of(const struct lmpi_window *window, int class, const char *call)
{
    (void)call;
    FUZZ_CHECK(window == &parent && class != MPI_SUCCESS);
    return class;
}

struct lmpi_window *lmpi_child_new(struct lmpi_window *of, MPI_Info info)
{
    (void)info;
    FUZZ_CHECK(of == &parent && !child_lives);
    child = parent;
    child.parent = of;
    child.target = child.targets = memset(child_targets, 0, sizeof child_targets);
    child.handle = CHILD;
    child.counted = 0;
    child_lives = true;
    return &child;
}

void lmpi_child_join(struct lmpi_window *joined)
{
    FUZZ_CHECK(joined == &child);
}

void lmpi_child_drop(struct lmpi_window *dropped)
{
    FUZZ_CHECK(dropped == &child && child_lives);
    if (child.counted)
        --*child.counted;
    if (child.target[child.rank].memory)
        uccs_memory_release(child.target[child.rank].memory);
    child_lives = false;
}

unsigned lmpi_info_kind(MPI_Info info, unsigned kind)
{
    (void)info;
    return kind;
}

uccs_endpoint_t lmpi_endpoint_along(unsigned kind, int world)
{
    (void)kind;
    FUZZ_CHECK(world == 0 || world == 1);
    return endpoint;
}

const struct uccs_op *lmpi_stream_op(unsigned kind)
{
    (void)kind;
    return 0;
}

struct lmpi_block *lmpi_memory_keep(const void *address)
{
    FUZZ_CHECK(address == exposed);
    return 0; /* none of the layer's */
}

void lmpi_memory_let_go(struct lmpi_block *block)
{
    FUZZ_CHECK(!block);
}

/* --- The inputs */

static void open_all(void)
{
    const struct uccs_context_attr attr = {.id = 1};
    world_open();
    FUZZ_CHECK(uccs_context_create(&attr, &lmpi_life.context) == UCCS_OK);
    FUZZ_CHECK(uccs_endpoint_create(lmpi_life.context, UCCS_GROUP_WORLD, 0, &endpoint) == UCCS_OK);
    peers[0] = (struct lmpi_peer){.control = aligned_alloc(64, lmpi_control_bytes(RANKS))};
    memset(peers[0].control, 0, lmpi_control_bytes(RANKS));
    peers[1] = (struct lmpi_peer){.world = 1}; /* of another node */
    parent = (struct lmpi_window){.ranks = RANKS, .peer = peers, .handle = PARENT, .key = {3, 14159}};
    FUZZ_CHECK(exposed = malloc(BYTES));
    for (int i = 0; i < BYTES; i++)
        exposed[i] = (char)(i * 7);
}

static uint64_t look(const char *from, size_t bytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes; i++)
        sum += (unsigned char)from[i]; /* a sanitizer sees bytes that are not there */
    return sum;
}

/* The window reaches what was exposed, and no more; `told`: the substrate's handle says where that is, under its hash. */
static void check_window(MPI_Win made, bool told)
{
    const struct lmpi_target *target = &child.target[child.rank];
    FUZZ_CHECK(made == CHILD && child_lives && child.rank == 0 && child.part && target->unit > 0);
    FUZZ_CHECK(peers[0].control->handles[(child.counted - peers[0].control->handles) % LMPI_HANDLES] == 1);
    if (told)
        return;
    FUZZ_CHECK(target->near == exposed && target->bytes <= BYTES && target->offset == 0);
    FUZZ_CHECK(look(target->near, target->bytes) == look(exposed, target->bytes));
}

struct call {
    const unsigned char *handle;
    MPI_Aint size;
    int unit, target, status;
    MPI_Win made;
};

static void import_it(void *argument)
{
    struct call *call = argument;
    call->status =
        MPIX_Win_from_memhandle(call->handle, call->size, call->unit, MPI_INFO_NULL, call->target, PARENT, &call->made);
}

/* Makes the hashes right again: of the substrate's handle inside, then of the whole. */
static void hash_again(unsigned char *handle, uint8_t how)
{
    uint64_t words[MPIX_MAX_MEMHANDLE_SIZE / 8];
    uint32_t length;
    if (how & REHASH_MEMORY) {
        const uint64_t hash = siphash(rte.node->nonce, handle + MEMORY_AT, HASHED);
        memcpy(handle + MEMORY_AT + HASHED, &hash, sizeof hash);
    }
    memcpy(words, handle, sizeof words);
    memcpy(&length, handle + MEMORY_AT - sizeof length, sizeof length);
    if (how & REHASH && length <= UCCS_MEMORY_HANDLE_MAX) {
        words[0] = siphash(parent.key, words + 1, MEMORY_AT + length - 8);
        memcpy(handle, words, sizeof words[0]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool opened;
    unsigned char handle[MPIX_MAX_MEMHANDLE_SIZE] = {0}, good[sizeof handle];
    struct fuzz fuzz = {data, size};
    int bytes = 0;
    if (!opened)
        open_all();
    opened = true;
    const uint8_t how = fuzz_byte(&fuzz);
    struct call call = {.handle = handle, .size = (int16_t)fuzz_short(&fuzz), .unit = (int8_t)fuzz_byte(&fuzz)};
    call.target = (int8_t)fuzz_byte(&fuzz);
    FUZZ_CHECK(MPIX_Memhandle_create(exposed, BYTES, MPI_INFO_NULL, PARENT, handle, &bytes) == MPI_SUCCESS);
    memcpy(good, handle, sizeof good);
    while (fuzz.left >= 2) { /* an input changes bytes of a good handle */
        const uint8_t at = fuzz_byte(&fuzz);
        handle[at % bytes] = fuzz_byte(&fuzz);
    }
    hash_again(handle, how);
    const bool changed = memcmp(handle, good, sizeof good) != 0;
    if (how & RELEASE_FIRST)
        FUZZ_CHECK(MPIX_Memhandle_release(good, PARENT) == MPI_SUCCESS);
    if (world_try(import_it, &call)) { /* it asks another process, which does not answer */
        world_reset();
        lmpi_child_drop(&child);
    }
    if (child_lives) {
        const bool told = memcmp(handle + MEMORY_AT, good + MEMORY_AT, sizeof good - MEMORY_AT) != 0;
        FUZZ_CHECK(call.status == MPI_SUCCESS && call.size >= 0 && (changed || call.size <= BYTES));
        FUZZ_CHECK(told || !(how & RELEASE_FIRST));
        check_window(call.made, reason);
        lmpi_child_drop(&child);
    }
    FUZZ_CHECK(!changed || how & (REHASH | REHASH_MEMORY) || call.status != MPI_SUCCESS);
    FUZZ_CHECK(changed || how & RELEASE_FIRST || call.target || call.unit < 1 || call.size < 0 || call.size > BYTES ||
               call.status == MPI_SUCCESS);
    FUZZ_CHECK(look((const char *)peers[0].control->handles, sizeof peers[0].control->handles) == 0);
    if (how & RELEASE_CHANGED)
        (void)MPIX_Memhandle_release(handle, PARENT);
    lmpi_handles_end(&parent);
    return 0;
}
