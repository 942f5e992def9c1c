/* OpenSHMEM and uccs.h in one process: either starts first, either ends last, and both start again. OpenSHMEM's waits
 * run handlers of the network class and none of the user class; finalize handles messages that are on their way.
 * pes: 1 2 4
 */
#include "../conform/check.h"

#include <stdbool.h>
#include <uccs.h>

enum { NETWORK = 1, USER = 2 };

static long flag, network, user;
static uccs_context_t context;

static void count(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)token, (void)data, (void)length;
    __atomic_fetch_add((long *)argument, 1, __ATOMIC_RELEASE);
}

static uccs_endpoint_t open_context(void)
{
    uccs_endpoint_t next;
    CHECK_EQ(uccs_context_create(0, &context), UCCS_OK);
    CHECK_EQ(uccs_am_register(context, NETWORK, UCCS_AM_NETWORK_PROTOCOL, count, &network), UCCS_OK);
    CHECK_EQ(uccs_am_register(context, USER, UCCS_AM_USER, count, &user), UCCS_OK);
    CHECK_EQ(uccs_endpoint_create(context, UCCS_GROUP_WORLD, next_pe, &next), UCCS_OK);
    return next;
}

/* My neighbour raises my flag only when its handler has run; it is in wait_until meanwhile. */
static void test_classes(void)
{
    uccs_endpoint_t next = open_context();
    long before = network, users = user;
    shmem_barrier_all();
    CHECK_EQ(uccs_am_short(context, next, USER, UCCS_AM_USER, 0, 0, 0), UCCS_OK);
    CHECK_EQ(uccs_am_short(context, next, NETWORK, UCCS_AM_NETWORK_PROTOCOL, 0, 0, 0), UCCS_OK);
    shmem_long_wait_until(&network, SHMEM_CMP_EQ, before + 1);
    if (me == npes - 1)
        for (int pe = 0; pe < npes; pe++)
            shmem_long_atomic_inc(&flag, pe);
    shmem_barrier_all();
    CHECK_EQ(user, users);
    CHECK_EQ(uccs_flush(context), UCCS_OK);
    CHECK_EQ(uccs_barrier(UCCS_GROUP_WORLD), UCCS_OK);
    CHECK_EQ(user, users + 1);
    shmem_barrier_all();
    CHECK_EQ(uccs_context_destroy(context), UCCS_OK);
}

/* The symmetric heap as memory of the substrate. */
static void test_memory(void)
{
    long *word = shmem_calloc(1, sizeof *word), back = 0;
    uccs_memory_t memory;
    struct uccs_memory_attr attr;
    CHECK_EQ(uccs_context_create(0, &context), UCCS_OK);
    CHECK_EQ(uccs_memory_register(context, word, sizeof *word, &memory), UCCS_OK);
    CHECK_EQ(uccs_memory_query(memory, &attr), UCCS_OK);
    CHECK_EQ(attr.domain, UCCS_DOMAIN_CPU);
    uccs_endpoint_t self;
    CHECK_EQ(uccs_endpoint_create(context, UCCS_GROUP_WORLD, me, &self), UCCS_OK);
    CHECK_EQ(uccs_atomic64(context, self, memory, 0, UCCS_ATOMIC_ADD, 3, 0, 0, 0), UCCS_OK);
    CHECK_EQ(shmem_long_atomic_fetch_add(word, 2, me), 3);
    CHECK_EQ(uccs_get_short_contiguous(context, self, memory, 0, &back, 8, 0), UCCS_OK);
    CHECK_EQ(back, 5);
    CHECK_EQ(uccs_memory_release(memory), UCCS_OK);
    CHECK_EQ(uccs_context_destroy(context), UCCS_OK);
    shmem_free(word);
}

/* Messages that nobody waits for are handled by finalize; the context is left to it too. */
static void leave_messages(void)
{
    uccs_endpoint_t next = open_context();
    CHECK_EQ(uccs_am_short(context, next, USER, UCCS_AM_USER, 0, 0, 0), UCCS_OK);
}

int main(void)
{
    for (int life = 0; life < 4; life++) {
        bool shmem_first = life % 2, shmem_last = life / 2;
        long users = user;
        if (shmem_first)
            shmem_init();
        CHECK_EQ(uccs_init(), UCCS_OK);
        if (!shmem_first)
            shmem_init();
        check_who();
        CHECK_EQ(uccs_group_rank(UCCS_GROUP_WORLD), me);
        test_classes();
        test_memory();
        leave_messages();
        if (shmem_last) {
            CHECK_EQ(uccs_finalize(), UCCS_OK);
            CHECK_EQ(user, users + 2);
            shmem_barrier_all();
        }
        shmem_finalize();
        if (!shmem_last) {
            CHECK_EQ(uccs_barrier(UCCS_GROUP_WORLD), UCCS_OK);
            CHECK_EQ(uccs_finalize(), UCCS_OK);
            CHECK_EQ(user, users + 2);
        }
        CHECK_EQ(uccs_finalize(), UCCS_ERR_STATE);
    }
    check_start();
    return check_pass();
}
