/* An ordered context, and a fence, order one-sided operations and messages to a peer of another node: a handler sees
 * the data of earlier puts; when a PE sees a put, earlier messages have arrived; a put that must come after a handler
 * waits for the message's request.
 * pes: 2 3
 * env: LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self UCX_MEM_EVENTS=no
 */
#include "../uccs/check.h"

enum { SEEN = 1, FLAG = 2, WORDS = 1 << 18, ROUNDS = 60 };
enum order { CONTEXT, FENCE, ORDERED }; /* by whom */

static uccs_context_t context, loose;
static uccs_endpoint_t next, loose_next;
static uccs_memory_t own, *all;
static long *mine;
static long seen, flagged, wrong;

/* The whole of the put that was sent before me is here; sizes are in the message. */
static void look(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    long told[2];
    (void)token, (void)length, (void)argument;
    memcpy(told, payload, sizeof told);
    wrong += mine[0] != told[0] || mine[told[1] - 1] != told[0];
    __atomic_fetch_add(&seen, 1, __ATOMIC_RELEASE);
}

/* Long data may be overtaken on its way, so the message must be held. */
static void test_put_then_message(uccs_context_t in, uccs_endpoint_t to, enum order order, long *source)
{
    static const long sizes[] = {WORDS, 1, 5000, 100, WORDS / 2};
    for (long round = 1; round <= ROUNDS; round++) {
        long size = sizes[round % 5], told[2] = {round, size};
        for (long i = 0; i < size; i++)
            source[i] = round;
        uccs_request_t request = UCCS_REQUEST_NULL, put = UCCS_REQUEST_NULL;
        OK(uccs_put_large_contiguous_nb(in, to, all[next_pe], 0, source, (size_t)size * sizeof *source, &put));
        if (order == FENCE)
            OK(uccs_fence(in));
        const struct uccs_op op = {.request = &request, .ordered = order == ORDERED};
        OK(uccs_am_short(in, to, SEEN, UCCS_AM_USER, told, sizeof told, &op));
        OK(uccs_wait(&request)); /* handled: the next put may come */
        OK(uccs_wait(&put));
        OK(uccs_request_release(&request));
        OK(uccs_request_release(&put));
    }
    while (__atomic_load_n(&seen, __ATOMIC_ACQUIRE) < ROUNDS)
        uccs_progress();
    CHECK_EQ(wrong, 0);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    seen = 0;
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

/* The put is there, so the message is: one look around runs its handler. */
static void test_message_then_put(long *source)
{
    long word = WORDS - 1;
    for (long round = 1; round <= ROUNDS; round++) {
        size_t length = round % 2 ? 16 : 300000;
        OK(uccs_am_large(context, next, FLAG, UCCS_AM_USER, source, length, 0));
        OK(uccs_put_short_contiguous(context, next, all[next_pe], (size_t)word * 8, &(long){-round}, 8, 0));
        while (__atomic_load_n(&mine[word], __ATOMIC_ACQUIRE) != -round)
            ; /* the library's thread serves */
        uccs_progress();
        CHECK_EQ(__atomic_load_n(&flagged, __ATOMIC_ACQUIRE), round);
        OK(uccs_flush(context));
        OK(uccs_barrier(UCCS_GROUP_WORLD));
    }
}

static uccs_context_t open_context(uint32_t id, int ordered)
{
    uccs_context_t made;
    OK(uccs_context_create(&(struct uccs_context_attr){.id = id, .ordered = ordered}, &made));
    OK(uccs_am_register(made, SEEN, UCCS_AM_USER, look, 0));
    OK(uccs_am_register(made, FLAG, UCCS_AM_USER, count_message, &flagged));
    return made;
}

int main(void)
{
    struct uccs_memory_attr attr;
    check_start();
    context = open_context(0, 1);
    loose = open_context(1, 0);
    next = check_endpoint(context, next_pe);
    loose_next = check_endpoint(loose, next_pe);
    OK(uccs_memory_allocate(context, WORDS * sizeof *mine, &own));
    OK(uccs_memory_query(own, &attr));
    mine = attr.address;
    all = calloc((size_t)npes, sizeof *all);
    check_share(context, own, all);
    long *source = calloc(WORDS, sizeof *source);
    test_put_then_message(context, next, CONTEXT, source);
    test_put_then_message(loose, loose_next, FENCE, source);
    test_put_then_message(loose, loose_next, ORDERED, source);
    test_message_then_put(source);
    for (int pe = 0; pe < npes; pe++)
        OK(uccs_memory_release(all[pe]));
    OK(uccs_memory_release(own));
    OK(uccs_context_destroy(loose));
    OK(uccs_context_destroy(context));
    free(source);
    free(all);
    return check_pass();
}
