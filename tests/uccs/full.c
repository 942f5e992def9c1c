/* The program has used up the memory that uccs_memory_allocate hands out: its own messages, collectives, replies and
 * operations that the target executes go on, as their room is their own.
 * pes: 2 3
 * timeout: 30
 * case: copied
 * env: LATERAL_MEMORY=1m
 * case: executed
 * env: LATERAL_MEMORY=1m LATERAL_WIRE=messages
 */
#include "check.h"

enum { ASK = 1, ANSWER = 2, PART = 200000, BARRIERS = 200, ANSWER_BYTES = 4000 };

static uccs_context_t context;
static long answered;

static void ask(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    static const char long_answer[ANSWER_BYTES];
    (void)payload, (void)length, (void)argument;
    OK(uccs_am_reply(token, ANSWER, UCCS_AM_USER, long_answer, sizeof long_answer));
}

static void answer(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)argument;
    CHECK_EQ(length, ANSWER_BYTES);
    answered++;
}

static void use_up_memory(void)
{
    uccs_memory_t memory;
    for (size_t bytes = (size_t)1 << 36; bytes >= 64;)
        if (uccs_memory_allocate(context, bytes, &memory) != UCCS_OK)
            bytes /= 2;
}

static void test_collectives(void)
{
    for (int i = 0; i < BARRIERS; i++)
        OK(uccs_barrier(UCCS_GROUP_WORLD));
    char *source = malloc(PART), *dest = malloc((size_t)PART * (size_t)npes);
    memset(source, me + 1, PART);
    OK(uccs_allgather(UCCS_GROUP_WORLD, source, dest, PART));
    for (size_t i = 0; i < (size_t)PART * (size_t)npes; i += PART / 2 - 1)
        CHECK_EQ(dest[i], i / PART + 1);
    free(source);
    free(dest);
}

int main(void)
{
    static long long_payload[100];
    long *private_words = calloc(2, sizeof *private_words), old = 0;
    uccs_memory_t own, *all;
    check_start();
    all = calloc((size_t)npes, sizeof *all);
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, ASK, UCCS_AM_USER, ask, 0));
    OK(uccs_am_register(context, ANSWER, UCCS_AM_USER, answer, 0));
    uccs_endpoint_t next = check_endpoint(context, next_pe);
    OK(uccs_memory_register(context, private_words, sizeof *private_words, &own));
    check_share(context, own, all);
    use_up_memory();
    test_collectives();
    OK(uccs_am_medium(context, next, ASK, UCCS_AM_USER, long_payload, sizeof long_payload, 0));
    OK(uccs_am_short(context, next, ASK, UCCS_AM_USER, 0, 0, 0));
    while (answered < 2)
        uccs_progress();
    OK(uccs_atomic64(context, next, all[next_pe], 0, UCCS_ATOMIC_ADD, 3, 0, (uint64_t *)&old, 0));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(private_words[0], 3);
    for (int pe = 0; pe < npes; pe++)
        OK(uccs_memory_release(all[pe]));
    OK(uccs_memory_release(own));
    free(private_words);
    free(all);
    return check_pass();
}
