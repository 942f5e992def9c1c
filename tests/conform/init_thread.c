/* Thread support: init_thread returns 0 and one of the four levels; query_thread returns the same level, also in other
 * threads; the levels rise. A library that gives a lower level than asked reports it in `provided`.
 * prints: ^PASS$
 * case: single
 * args: 0
 * case: funneled
 * args: 1
 * case: serialized
 * args: 2
 * case: multiple
 * args: 3
 * case: init
 * args: 4
 */
#include "check.h"
#include <pthread.h>

static const int levels[] = {SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED, SHMEM_THREAD_SERIALIZED,
                             SHMEM_THREAD_MULTIPLE};
static int provided = -1;

static int known(int level)
{
    for (size_t i = 0; i < COUNT_OF(levels); i++)
        if (level == levels[i])
            return 1;
    return 0;
}

static void *ask_in_thread(void *unused)
{
    int level = -1, initialized = 0;
    (void)unused;
    shmem_query_thread(&level);
    CHECK_EQ(level, provided);
    shmem_query_initialized(&initialized);
    CHECK(initialized != 0);
    return NULL;
}

int main(int argc, char **argv)
{
    int which = argc > 1 ? atoi(argv[1]) : 3, level = -1;
    CHECK(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED &&
          SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE);
    if (which < 4) {
        CHECK_EQ(shmem_init_thread(levels[which], &provided), 0);
    } else {
        shmem_init();
        shmem_query_thread(&provided);
    }
    check_who();
    CHECK(known(provided));
    shmem_query_thread(&level);
    CHECK_EQ(level, provided);
    if (provided >= SHMEM_THREAD_FUNNELED) { /* the queries may come from any thread */
        pthread_t thread;
        CHECK_EQ(pthread_create(&thread, NULL, ask_in_thread, NULL), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
    }
    level = -1;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level), 0); /* nested; may not change the level */
    CHECK(known(level));
    shmem_finalize();
    return check_pass();
}
