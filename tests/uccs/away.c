/* Memory that the node does not map is put and got while its owner makes no call, where the kernel copies between processes; and
 * what comes back when the owner has unmapped it; and it changes while its owner computes and polls in turns.
 * pes: 2
 * env: LATERAL_PROGRESS=poll
 */
#define _GNU_SOURCE /* process_vm_readv */
#include "check.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>

enum { BYTES = 5000, PAGE = 65536 };

static uccs_context_t context;
static volatile int64_t *flags; /* of both processes; the node maps them */

struct where {
    int64_t pid, address;
};

/* Returns whether the kernel copies from the other process. */
static int kernel_copies(const struct where *there)
{
    char byte;
    struct iovec here = {&byte, 1}, from = {(void *)there->address, 1};
    return process_vm_readv((pid_t)there->pid, &here, 1, &from, 1, 0) == 1;
}

/* The owner waits without a call of the library, and not for ever. */
static int away_until(int64_t value)
{
    const struct timespec pause = {0, 1000000};
    for (int i = 0; i < 3000 && flags[0] != value; i++)
        nanosleep(&pause, 0);
    return flags[0] == value;
}

/* Two pages are registered, of which the owner unmaps the second. */
static void test_unmapped(uccs_endpoint_t next)
{
    uccs_memory_t own, all[2];
    char *pages = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t word = 1;
    CHECK(pages != MAP_FAILED);
    OK(uccs_memory_register(context, pages, 2 * PAGE, &own));
    check_share(context, own, all);
    CHECK(munmap(pages + PAGE, PAGE) == 0);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(uccs_put(next, all[next_pe], PAGE, &word, 8, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_get(next, all[next_pe], PAGE, &word, 8, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_put(next, all[next_pe], PAGE - 4, &word, 8, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_atomic64(context, next, all[next_pe], PAGE, UCCS_ATOMIC_ADD, 1, 0, &word, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(word, 1);
    OK(uccs_put(next, all[next_pe], PAGE - 8, &word, 8, 0));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(*(int64_t *)(pages + PAGE - 8), 1);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    munmap(pages, PAGE);
}

/* Both processes add to a word of each, computing and polling in turns: no addition is lost, and each sees what it follows. */
static void test_turns(uccs_endpoint_t next, int adds)
{
    uccs_memory_t own, all[2];
    uccs_endpoint_t self = check_endpoint(context, me);
    volatile int64_t *words = calloc(2, sizeof *words);
    OK(uccs_memory_register(context, (void *)words, 2 * sizeof *words, &own));
    check_share(context, own, all);
    uint64_t old = 0;
    for (int64_t i = 0, got = 0; i < adds; i++) {
        OK(uccs_atomic64(context, i % 2 ? self : next, all[i % 2 ? me : next_pe], 0, UCCS_ATOMIC_ADD, 1, 0, &old, 0));
        CHECK((int64_t)old >= i / 2);
        OK(uccs_put(next, all[next_pe], 8, &i, 8, 0));
        OK(uccs_get(next, all[next_pe], 8, &got, 8, 0));
        CHECK_EQ(got, i);
        for (volatile int64_t work = 0; work < i % 7 * 500; work++)
            if (i % 3 == 0 && work % 50 == 0)
                uccs_progress();
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(words[0], adds);
    CHECK_EQ(words[1], adds - 1);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_endpoint_release(self));
    free((void *)words);
}

int main(void)
{
    static struct where wheres[2];
    uccs_memory_t shared, own, all[2], flag[2];
    struct uccs_memory_attr attr;
    check_start();
    const struct uccs_context_attr about = {.id = 1};
    OK(uccs_context_create(&about, &context));
    char *memory = malloc(BYTES), *other = malloc(BYTES);
    memset(memory, me + 1, BYTES);
    OK(uccs_memory_allocate(context, 64, &shared));
    OK(uccs_memory_query(shared, &attr));
    flags = attr.address;
    OK(uccs_memory_register(context, memory, BYTES, &own));
    check_share(context, own, all);
    check_share(context, shared, flag);
    const struct where mine = {getpid(), (int64_t)memory};
    OK(uccs_allgather(UCCS_GROUP_WORLD, &mine, wheres, sizeof mine));
    uccs_endpoint_t next = check_endpoint(context, next_pe);
    int64_t copies = kernel_copies(&wheres[next_pe]), both = 0;
    OK(uccs_allreduce(UCCS_GROUP_WORLD, &copies, &both, 1, UCCS_INT64, UCCS_SUM));
    if (both == 2 && me == 0) {
        const int64_t done = 7;
        memset(other, 9, BYTES);
        OK(uccs_put(next, all[1], 1, other, BYTES - 2, 0));
        OK(uccs_get(next, all[1], 0, other, BYTES, 0));
        OK(uccs_put(next, flag[1], 0, &done, sizeof done, 0));
        CHECK(other[0] == 2 && other[1] == 9 && other[BYTES - 2] == 9 && other[BYTES - 1] == 2);
    } else if (both == 2) {
        CHECK(away_until(7));
        CHECK(memory[0] == 2 && memory[1] == 9 && memory[BYTES - 2] == 9 && memory[BYTES - 1] == 2);
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (both == 2)
        test_unmapped(next);
    test_turns(next, 20000);
    return check_pass();
}
