/* Each call that needs a running library names itself when it comes before shmem_init. Each is made in a process of its own.
 * pes: 1
 */
#define SHMEM_NO_DEPRECATED_WARNINGS
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long word[4], other[4];
static uint64_t sig;
static size_t indices[4];
static shmem_team_t team;
static shmem_ctx_t ctx;
static shmem_team_config_t config;
static shmemx_request_t request;
static shmemx_ct_t ct;

#define CALLS(X)                                                             \
    X(shmem_my_pe, ())                                                       \
    X(shmem_n_pes, ())                                                       \
    X(shmem_finalize, ())                                                    \
    X(shmem_global_exit, (0))                                                \
    X(shmem_barrier_all, ())                                                 \
    X(shmem_sync_all, ())                                                    \
    X(shmem_malloc, (8))                                                     \
    X(shmem_malloc_with_hints, (8, 0))                                       \
    X(shmem_calloc, (1, 8))                                                  \
    X(shmem_align, (64, 8))                                                  \
    X(shmem_realloc, (word, 8))                                              \
    X(shmem_free, (word))                                                    \
    X(shmem_ptr, (word, 0))                                                  \
    X(shmem_team_ptr, (SHMEM_TEAM_WORLD, word, 0))                           \
    X(shmem_addr_accessible, (word, 0))                                      \
    X(shmem_pe_accessible, (0))                                              \
    X(shmem_signal_fetch, (&sig))                                            \
    X(shmem_signal_wait_until, (&sig, SHMEM_CMP_EQ, 0))                      \
    X(shmem_long_wait_until, (word, SHMEM_CMP_EQ, 0))                        \
    X(shmem_long_test, (word, SHMEM_CMP_EQ, 0))                              \
    X(shmem_long_wait_until_all, (word, 1, NULL, SHMEM_CMP_EQ, 0))           \
    X(shmem_long_test_any, (word, 1, NULL, SHMEM_CMP_EQ, 0))                 \
    X(shmem_team_my_pe, (SHMEM_TEAM_WORLD))                                  \
    X(shmem_team_n_pes, (SHMEM_TEAM_WORLD))                                  \
    X(shmem_team_get_config, (SHMEM_TEAM_WORLD, 0, &config))                 \
    X(shmem_team_translate_pe, (SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_WORLD))      \
    X(shmem_team_split_strided, (SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team)) \
    X(shmem_team_sync, (SHMEM_TEAM_WORLD))                                   \
    X(shmem_team_destroy, (SHMEM_TEAM_WORLD))                                \
    X(shmem_team_create_ctx, (SHMEM_TEAM_WORLD, 0, &ctx))                    \
    X(shmem_ctx_create, (0, &ctx))                                           \
    X(shmem_ctx_destroy, (SHMEM_CTX_DEFAULT))                                \
    X(shmem_ctx_get_team, (SHMEM_CTX_DEFAULT, &team))                        \
    X(shmem_ctx_session_start, (SHMEM_CTX_DEFAULT, 0, NULL, 0))              \
    X(shmem_ctx_session_stop, (SHMEM_CTX_DEFAULT))                           \
    X(shmem_long_put, (word, other, 1, 0))                                   \
    X(shmem_long_get, (word, other, 1, 0))                                   \
    X(shmem_long_atomic_add, (word, 1, 0))                                   \
    X(shmem_long_broadcast, (SHMEM_TEAM_WORLD, word, other, 1, 0))           \
    X(shmem_barrier, (0, 0, 1, word))                                        \
    X(shmem_broadcast64, (word, other, 1, 0, 0, 0, 1, word))                 \
    X(shmemx_ct_create, (&ct))                                               \
    X(shmemx_request_create, (0, &request))                                  \
    X(shmemx_request_free, (&request))                                       \
    X(shmemx_request_wait, (&request))                                       \
    X(shmemx_request_wait_free, (&request))                                  \
    X(shmemx_request_wait_local, (&request))                                 \
    X(shmemx_request_test, (&request))                                       \
    X(shmemx_request_test_local, (&request))                                 \
    X(shmemx_request_pending, (request))                                     \
    X(shmemx_request_fence, (&request))                                      \
    X(shmemx_request_merge, (&request, 1, &request))                         \
    X(shmemx_request_wait_all, (&request, 1, NULL))                          \
    X(shmemx_request_wait_all_free, (&request, 1, NULL))                     \
    X(shmemx_request_wait_any, (&request, 1, NULL))                          \
    X(shmemx_request_wait_some, (&request, 1, indices, NULL))                \
    X(shmemx_request_test_all, (&request, 1, NULL))                          \
    X(shmemx_request_test_any, (&request, 1, NULL))                          \
    X(shmemx_request_test_some, (&request, 1, indices, NULL))                \
    X(shmemx_ct_create_team, (SHMEM_TEAM_WORLD, &ct))                        \
    X(shmemx_ct_wait_any, (&ct, word, 1))

static const char *const names[] = {
#define NAME(name, arguments) #name,
    CALLS(NAME)};

static void call(int number)
{
    int at = 0;
#define CALL(name, arguments) \
    if (number == at++)       \
        (void)name arguments;
    CALLS(CALL)
}

/* Reads what the child writes until it ends. */
static void read_all(int from, char *text, size_t room)
{
    size_t used = 0;
    ssize_t got;
    while (used + 1 < room && (got = read(from, text + used, room - 1 - used)) > 0)
        used += (size_t)got;
    text[used] = 0;
}

/* Returns whether the call has named itself in one line and ended the process with status 1. */
static int names_itself(int number)
{
    char text[1024], wanted[256];
    int ends[2], status;
    if (pipe(ends) != 0)
        exit(2);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], 2);
        alarm(10);
        call(number);
        _exit(0);
    }
    close(ends[1]);
    read_all(ends[0], text, sizeof text);
    close(ends[0]);
    waitpid(pid, &status, 0);
    snprintf(wanted, sizeof wanted, "lateral: %s: called before shmem_init", names[number]);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1 && strncmp(text, wanted, strlen(wanted)) == 0)
        return 1;
    fprintf(stderr, "%s: wrong: status 0x%x, said: %s\n", names[number], (unsigned)status, text);
    return 0;
}

int main(void)
{
    int wrong = 0;
    for (int number = 0; number < (int)(sizeof names / sizeof *names); number++)
        wrong += !names_itself(number);
    shmem_init();
    shmem_finalize();
    return wrong != 0;
}
