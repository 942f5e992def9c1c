/* Handles that outlive their counter: arrivals raise the slot's errors and do not count, also in the next life of the
 * library. A wait on such a handle, or on a value that never was a counter, ends the job with a line.
 *
 * case: arrivals
 * case: wait
 * pes: 2
 * args: wait
 * status: 1
 * fails: ^lateral: PE [01]: shmemx_ct_wait: ct 0x[0-9a-f]+ is not a counter, or one that was freed
 * case: get_null
 * pes: 2
 * args: get_null
 * status: 1
 * fails: ^lateral: PE [01]: shmemx_ct_get: ct \(nil\) is not a counter
 * case: put_null
 * pes: 2
 * args: put_null
 * status: 1
 * fails: ^lateral: PE [01]: shmemx_putmem_ct: ct \(nil\) is not a counter
 * case: pe
 * pes: 2
 * args: pe
 * status: 1
 * fails: ^lateral: PE [01]: shmemx_ct_add: pe 2 is out of range, the job has PEs 0 to 1
 * case: root
 * pes: 2
 * args: root
 * status: 1
 * fails: ^lateral: PE [01]: shmemx_int_broadcast_nbe: PE_root 7 is out of range
 */
#include "../conform/check.h"

#include <shmemx.h>

static long word;

static shmemx_ct_t freed(void)
{
    shmemx_ct_t ct;
    shmemx_ct_create(&ct);
    shmemx_ct_t old = ct;
    shmemx_ct_free(&ct);
    return old;
}

/* Not freed: finalize does it. Another life has begun when it returns. */
static shmemx_ct_t left(void)
{
    shmemx_ct_t ct;
    shmemx_ct_create(&ct);
    shmemx_ct_add(ct, 17, next_pe);
    shmem_finalize();
    shmem_init();
    return ct;
}

/* Sends through the old handle; the counter that has its slot now must not count that. */
static void send_late(shmemx_ct_t old, int arrivals)
{
    shmemx_ct_t next;
    const long value = 3;
    shmemx_ct_create(&next);
    CHECK(next != old);
    long before = shmemx_ct_errors(next);
    shmem_barrier_all();
    shmemx_long_put_ct(old, &word, &value, 1, next_pe);
    for (int i = 1; i < arrivals; i++)
        shmemx_ct_add(old, 10, next_pe);
    shmemx_ct_add(next, 1, next_pe);
    shmem_barrier_all();
    CHECK_EQ(shmemx_ct_get(next), 1);
    CHECK_EQ(shmemx_ct_errors(next) - before, arrivals);
    CHECK_EQ(word, value);
    shmem_barrier_all();
    shmemx_ct_free(&next);
}

static void mistake(const char *what)
{
    shmemx_request_t one = SHMEMX_REQUEST_NULL;
    shmemx_ct_t old = freed();
    if (!strcmp(what, "wait"))
        shmemx_ct_wait(old, 0);
    else if (!strcmp(what, "get_null"))
        shmemx_ct_get(0);
    else if (!strcmp(what, "put_null"))
        shmemx_putmem_ct(0, &word, &word, sizeof word, me);
    else if (!strcmp(what, "root"))
        shmemx_int_broadcast_nbe(SHMEM_TEAM_WORLD, (int *)&word, (int *)&word, 1, 7, &one);
    shmemx_ct_create(&old);
    shmemx_ct_add(old, 1, npes);
}

int main(int argc, char **argv)
{
    check_start();
    if (argc > 1)
        mistake(argv[1]);
    const shmemx_ct_t first = left();
    send_late(first, 3);
    shmemx_ct_t old = freed();
    send_late(old, 3);
    send_late(old, 5);
    const shmemx_ct_t second = left();
    send_late(second, 4);
    send_late(old, 2);
    return check_pass();
}
