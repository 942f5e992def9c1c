/* Locks by many threads: plain loads and stores of shared memory under the lock, in all orders of readers and writers,
 * by blocking calls and by requests.
 * pes: 1 2
 */
#include "../uccs/check.h"

enum { THREADS = 8, ROUNDS = 150, WORDS = 4, LOCK_AT = 64, DATA_AT = 256, BYTES = 512 };

static uccs_context_t context;
static uccs_endpoint_t zero;
static uccs_memory_t own, *all;
static long *words; /* of process 0, in its memory, which all map */

static void write_words(void)
{
    for (int i = 0; i < WORDS; i++)
        words[i]++;
}

static void read_words(void)
{
    for (int i = 1; i < WORDS; i++)
        CHECK_EQ(words[i], words[0]);
}

static void lock_by_request(enum uccs_lock_mode mode)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    OK(uccs_lock_nb(zero, all[0], LOCK_AT, mode, &request));
    OK(uccs_wait(&request));
    OK(uccs_request_release(&request));
}

static void *work(void *argument)
{
    const long id = (long)argument;
    for (long i = 0; i < ROUNDS; i++) {
        const enum uccs_lock_mode mode = (i + id) % 4 ? UCCS_LOCK_SHARED : UCCS_LOCK_EXCLUSIVE;
        if ((i + id) % 5)
            OK(uccs_lock(zero, all[0], LOCK_AT, mode));
        else
            lock_by_request(mode);
        mode == UCCS_LOCK_EXCLUSIVE ? write_words() : read_words();
        OK(uccs_unlock(zero, all[0], LOCK_AT, mode));
    }
    return 0;
}

int main(void)
{
    struct uccs_memory_attr attr;
    long writes = 0;
    check_start();
    OK(uccs_context_create(0, &context));
    zero = check_endpoint(context, 0);
    all = calloc((size_t)npes, sizeof *all);
    OK(uccs_memory_allocate(0, BYTES, &own));
    check_share(0, own, all);
    OK(uccs_memory_query(all[0], &attr));
    words = (long *)((char *)attr.address + DATA_AT);
    check_threads(THREADS, work);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (long id = 0; id < THREADS; id++)
        for (long i = 0; i < ROUNDS; i++)
            writes += (i + id) % 4 == 0;
    CHECK_EQ(words[0], npes * writes);
    read_words();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int pe = 0; pe < npes; pe++)
        OK(uccs_memory_release(all[pe]));
    OK(uccs_memory_release(own));
    OK(uccs_context_destroy(context));
    free(all);
    return check_pass();
}
