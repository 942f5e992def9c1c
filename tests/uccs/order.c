/* What comes after a put that the target has yet to execute for a message (the kernel's copy is refused): across a
 * fence, and for an ordered message, put or get, the put has been executed.
 * pes: 2
 * env: LATERAL_WIRE=messages
 */
#include "check.h"

enum { HANDLER = 1, WORDS = 1000, ROUNDS = 20 };
enum how { FENCE_PUT, ORDERED_PUT, FENCE_MESSAGE, ORDERED_MESSAGE, HOWS };

static uccs_context_t context;
static uccs_endpoint_t other;
static uccs_memory_t theirs, their_flag;
static long *mine; /* what is put to me: private memory */
static long handled, wrong;

static void look(long round)
{
    wrong += mine[0] != round || mine[WORDS - 1] != round;
}

static void handle(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    long round;
    (void)token, (void)length, (void)argument;
    memcpy(&round, payload, sizeof round);
    look(round);
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELEASE);
}

static void send(enum how how, long round)
{
    static long source[WORDS];
    uccs_request_t request = UCCS_REQUEST_NULL;
    struct uccs_op ordered = {.ordered = 1};
    const struct uccs_op *op = how == ORDERED_PUT || how == ORDERED_MESSAGE ? &ordered : 0;
    for (int i = 0; i < WORDS; i++)
        source[i] = round;
    OK(uccs_put_large_contiguous_nb(context, other, theirs, 0, source, sizeof source, &request));
    if (!op)
        OK(uccs_fence(context));
    if (how == FENCE_PUT || how == ORDERED_PUT)
        OK(uccs_put_short_contiguous(context, other, their_flag, 0, &round, sizeof round, op));
    else
        OK(uccs_am_short(context, other, HANDLER, UCCS_AM_USER, &round, sizeof round, op));
    OK(uccs_wait(&request));
    OK(uccs_request_release(&request));
    OK(uccs_flush(context));
}

/* The progress of this process is rare, so that the put has not been executed when the next operation is issued. */
static void receive(enum how how, long round, const long *flag)
{
    usleep(2000);
    if (how == FENCE_PUT || how == ORDERED_PUT) {
        while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != round) {
            usleep(1000);
            if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != round)
                uccs_progress();
        }
        look(round);
    } else {
        while (__atomic_load_n(&handled, __ATOMIC_ACQUIRE) < round)
            uccs_progress();
    }
}

/* An ordered get sees the put before it. */
static void get_behind_put(void)
{
    static long source[WORDS] = {-1}, seen;
    uccs_request_t request = UCCS_REQUEST_NULL;
    OK(uccs_put_large_contiguous_nb(context, other, theirs, 0, source, sizeof source, &request));
    OK(uccs_get_short_contiguous(context, other, theirs, 0, &seen, sizeof seen, &(struct uccs_op){.ordered = 1}));
    CHECK_EQ(seen, -1);
    OK(uccs_wait(&request));
    OK(uccs_request_release(&request));
}

int main(void)
{
    struct uccs_memory_attr attr;
    uccs_memory_t own, flag, all[2], flags[2];
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, HANDLER, UCCS_AM_USER, handle, 0));
    other = check_endpoint(context, next_pe);
    mine = calloc(WORDS, sizeof *mine);
    OK(uccs_memory_register(context, mine, WORDS * sizeof *mine, &own));
    OK(uccs_memory_allocate(context, sizeof(long), &flag));
    OK(uccs_memory_query(flag, &attr));
    check_share(context, own, all);
    check_share(context, flag, flags);
    theirs = all[next_pe];
    their_flag = flags[next_pe];
    for (enum how how = 0; how < HOWS; how++) {
        handled = 0;
        *(long *)attr.address = 0;
        OK(uccs_barrier(UCCS_GROUP_WORLD));
        for (long round = 1; round <= ROUNDS; round++) {
            if (me == 0)
                send(how, round);
            else
                receive(how, round, attr.address);
            OK(uccs_barrier(UCCS_GROUP_WORLD));
        }
        CHECK_EQ(wrong, 0);
    }
    get_behind_put();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int pe = 0; pe < npes; pe++) {
        OK(uccs_memory_release(all[pe]));
        OK(uccs_memory_release(flags[pe]));
    }
    OK(uccs_memory_release(own));
    OK(uccs_memory_release(flag));
    OK(uccs_context_destroy(context));
    free(mine);
    return check_pass();
}
