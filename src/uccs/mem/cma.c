#include "uccs/mem/dynamic.h"

#include "base/process.h"
#include "base/env.h"
#include "base/siphash.h"
#include "rte/rte.h"
#include "uccs/core/pe_shared.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

enum { UNKNOWN, WORKS, REFUSED };

static uint8_t peers[NODE_MAX_PES]; /* by node index; relaxed: every test has the same result */
static uint64_t word[2];            /* peers read it; the value, and the PE */

#define ASKED 16 /* PEs that the common ancestor is computed from */

/* Returns the process that has started the PEs of this node; 0 when /proc does not show it. */
static pid_t starter_of_peers(void)
{
    pid_t starter = getpid();
    int step = rte.node_size / ASKED + 1;
    for (int i = 0; starter && i < rte.node_size; i += step)
        starter = ancestor_common(starter, atomic_load_relaxed(&rte.node->pe[i].pid));
    return starter;
}

/* Allows the processes below the peers' common ancestor to access this one, as Yama may require. A kernel that does not
 * know the call does not require it. Messages serve a peer that cannot access this process. */
static void allow_copies(void)
{
#ifdef PR_SET_PTRACER
    if (prctl(PR_SET_PTRACER, 0, 0, 0, 0) != 0)
        return;
    pid_t starter = starter_of_peers();
    if (starter > 0)
        prctl(PR_SET_PTRACER, starter, 0, 0, 0);
#endif
}

/* Under the lock. */
static void offer_word(struct uccs_pe_shared *own)
{
    if (own->word)
        return;
    allow_copies();
    uint64_t facts[2] = {(uint64_t)getpid(), (uintptr_t)word};
    word[0] = siphash(rte.node->nonce, facts, sizeof facts);
    word[1] = (uint64_t)uccs_core.me;
    own->pid = getpid();
    own->value = word[0];
    atomic_store_release(&own->word, (uintptr_t)word); /* acquire: probe */
}

void uccs_cma_offer(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct uccs_pe_shared *own = uccs_pe_shared_mine();
    if (lat_likely(atomic_load_acquire(&own->word) != 0) || strcmp(env_text(ENV_WIRE), "messages") == 0)
        return; /* release: offer_word */
    pthread_mutex_lock(&lock);
    offer_word(own);
    pthread_mutex_unlock(&lock);
}

static bool copy_works(uint32_t index)
{
    const struct uccs_pe_shared *own = uccs_pe_shared_of(index);
    uint64_t address = atomic_load_acquire(&own->word); /* release: uccs_cma_offer */
    uint64_t found[2] = {0};
    struct iovec here = {found, sizeof found}, there = {(void *)(uintptr_t)address, sizeof found};
    return address && process_vm_readv(own->pid, &here, 1, &there, 1, 0) == (ssize_t)sizeof found &&
           found[0] == own->value && found[1] == (uint64_t)uccs_pe_at(index);
}

bool uccs_cma_reaches(const struct uccs_region *memory)
{
    uint32_t index = uccs_index(memory->owner);
    uint8_t state = atomic_load_relaxed(&peers[index]);
    if (lat_unlikely(state == UNKNOWN)) {
        state = copy_works(index) ? WORKS : REFUSED;
        atomic_store_relaxed(&peers[index], state);
    }
    return state == WORKS;
}

/* Copies in a loop, since the kernel may copy less than it is asked for. See uccs_cma_put for what it returns. */
static int copy_by_kernel(const struct uccs_region *memory, size_t offset, char *local, size_t length, bool put)
{
    while (length) {
        struct iovec here = {local, length}, there = {(void *)(uintptr_t)(memory->address + offset), length};
        ssize_t moved = put ? process_vm_writev(memory->pid, &here, 1, &there, 1, 0)
                            : process_vm_readv(memory->pid, &here, 1, &there, 1, 0);
        if (moved <= 0)
            return moved == 0 || errno == EFAULT ? UCCS_ERR_BOUNDS : UCCS_ERR_UNREACHABLE;
        local += moved;
        offset += (size_t)moved;
        length -= (size_t)moved;
    }
    return UCCS_OK;
}

int uccs_cma_put(const struct uccs_region *memory, size_t offset, const void *source, size_t length)
{
    return copy_by_kernel(memory, offset, (char *)source, length, true);
}

int uccs_cma_get(const struct uccs_region *memory, size_t offset, void *dest, size_t length)
{
    return copy_by_kernel(memory, offset, dest, length, false);
}

/* What the kernel copies in part goes again, piece by piece. */
int uccs_cma_put_pieces(const struct uccs_region *memory, const struct uccs_piece *pieces, size_t n)
{
    struct iovec here[UCCS_CMA_PIECES], there[UCCS_CMA_PIECES];
    int status = UCCS_OK;
    size_t all = 0;
    if (!n)
        return UCCS_OK;
    for (size_t i = 0; i < n; all += pieces[i++].length) {
        here[i] = (struct iovec){pieces[i].local, pieces[i].length};
        there[i] = (struct iovec){(void *)(uintptr_t)(memory->address + pieces[i].offset), pieces[i].length};
    }
    const bool whole = process_vm_writev(memory->pid, here, n, there, n, 0) == (ssize_t)all;
    for (size_t i = 0; !whole && i < n && status == UCCS_OK; i++)
        status = uccs_cma_put(memory, pieces[i].offset, pieces[i].local, pieces[i].length);
    return status;
}
