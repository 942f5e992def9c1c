/* Twenty threads on one stream of thread scope. A thread's flush waits for its own operations alone: PE 2 is stopped
 * while the others have operations for it under way, and the flush of a thread that has none returns. Then all threads
 * work at once, with results that are checked. tests/nodes runs it between nodes.
 * pes: 3
 * timeout: 120
 * case: plain
 * case: served
 * env: LATERAL_WIRE=messages
 */
#include "../uccs/check.h"

#include <signal.h>

enum { THREADS = 20, ROUNDS = 20, PES = 3, WORDS = 1024 };

static uccs_context_t context;
static uccs_stream_t stream;
static uccs_memory_t theirs[PES];
static uccs_endpoint_t to[PES];
static long words[PES * THREADS * WORDS + 1], *const sum = &words[PES * THREADS * WORDS];
static int pids[PES];
static pthread_barrier_t step;

static size_t place_of(long thread)
{
    return ((size_t)me * THREADS + (size_t)thread) * WORDS * 8;
}

static void import_all(uccs_memory_t own)
{
    char handle[UCCS_MEMORY_HANDLE_MAX] = {0}, all[PES][UCCS_MEMORY_HANDLE_MAX];
    size_t length = sizeof handle;
    OK(uccs_memory_export(own, handle, &length));
    OK(uccs_allgather(UCCS_GROUP_WORLD, handle, all, sizeof handle));
    for (int pe = 0; pe < npes; pe++) {
        OK(uccs_memory_import(context, all[pe], length, &theirs[pe]));
        OK(uccs_stream_endpoint(stream, UCCS_GROUP_WORLD, pe, &to[pe]));
    }
}

static int is_stopped(int pid)
{
    char name[64], text[512] = {0};
    snprintf(name, sizeof name, "/proc/%d/stat", pid);
    FILE *file = fopen(name, "r");
    size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    const char *end = bytes ? strrchr(text, ')') : 0;
    return end && end[2] == 'T';
}

/* Every thread issues to the PE that is stopped, and waits only once it goes on. */
static void *issue_to_stopped(void *argument)
{
    const long id = (long)(intptr_t)argument;
    static long data[THREADS];
    const struct uccs_op later = {.nonblocking = 1};
    data[id] = id + 1;
    OK(uccs_put(to[2], theirs[2], place_of(id), &data[id], 8, &later));
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step); /* the main thread has flushed; PE 2 goes on */
    OK(uccs_stream_flush(stream, 0, 0));
    return 0;
}

static void flush_past_others(void)
{
    pthread_t threads[THREADS];
    long word = 5, seen = 0;
    while (!is_stopped(pids[2]))
        usleep(1000);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, issue_to_stopped, (void *)(intptr_t)i);
    pthread_barrier_wait(&step);
    OK(uccs_put(to[1], theirs[1], 0, &word, 8, &(struct uccs_op){.nonblocking = 1}));
    OK(uccs_stream_flush(stream, 0, 0));
    OK(uccs_get(to[1], theirs[1], 0, &seen, 8, 0));
    CHECK_EQ(seen, 5);
    CHECK(is_stopped(pids[2]));
    CHECK(kill(pids[2], SIGCONT) == 0);
    pthread_barrier_wait(&step);
    for (long i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
}

static void do_stopped(void)
{
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 2)
        raise(SIGSTOP);
    else if (me == 0)
        flush_past_others();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (long i = 0; i < THREADS && me == 2; i++)
        CHECK_EQ(words[i * WORDS], i + 1);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

static void do_round(long id, long round, int pe)
{
    long out[WORDS], in[WORDS], results[8];
    const struct uccs_op later = {.nonblocking = 1};
    for (int i = 0; i < WORDS; i++)
        out[i] = round * WORDS + id + i;
    OK(uccs_put(to[pe], theirs[pe], place_of(id), out, sizeof out, &later));
    for (int i = 0; i < 8; i++)
        OK(uccs_atomic(to[pe], theirs[pe], sizeof words - 8, 8, UCCS_ATOMIC_ADD, 1, 0, &results[i], &later));
    OK(uccs_stream_flush(stream, &to[pe], 1));
    OK(uccs_get(to[pe], theirs[pe], place_of(id), in, sizeof in, &later));
    OK(uccs_stream_flush_local(stream, 0, 0));
    CHECK(memcmp(in, out, sizeof in) == 0);
    for (int i = 0; i < 8; i++)
        CHECK(results[i] >= 0 && results[i] < (long)PES * THREADS * ROUNDS * 8);
}

static void *work(void *argument)
{
    const long id = (long)(intptr_t)argument;
    for (long round = 0; round < ROUNDS; round++)
        do_round(id, round, (me + (int)round) % npes);
    OK(uccs_stream_flush(stream, 0, 0));
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    uccs_memory_t own;
    int pid = getpid();
    check_start();
    pthread_barrier_init(&step, 0, THREADS + 1);
    OK(uccs_context_create(0, &context));
    OK(uccs_stream_create(context, &(struct uccs_stream_attr){.scope = UCCS_SCOPE_THREAD}, &stream));
    OK(uccs_memory_register(context, words, sizeof words, &own));
    import_all(own);
    OK(uccs_allgather(UCCS_GROUP_WORLD, &pid, pids, sizeof pid));
    do_stopped();
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, work, (void *)(intptr_t)i);
    for (long i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    long all[PES], total = 0;
    OK(uccs_allgather(UCCS_GROUP_WORLD, sum, all, sizeof *sum));
    for (int pe = 0; pe < npes; pe++)
        total += all[pe];
    CHECK_EQ(total, (long)npes * THREADS * ROUNDS * 8);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_stream_release(stream));
    OK(uccs_memory_release(own));
    OK(uccs_context_destroy(context));
    return check_pass();
}
