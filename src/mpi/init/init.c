#include "mpi/core/process.h"
#include "mpi/core/real.h"
#include "mpi/datatype/type.h"
#include "mpi/init/init.h"
#include "mpi/window/window.h"
#include "mpi/window/completion.h"
#include "mpi/window/control.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Windows use a context of the library's own; programs tend to use the low numbers. */
#define CONTEXT (UCCS_CONTEXTS - 1)

static int self_key = MPI_KEYVAL_INVALID;

/* All ranks come before anybody waits in the substrate, because the MPI's own messages may still be under way. */
static void wait_for_all(void)
{
    MPI_Request request;
    int done = 0;
    if (PMPI_Ibarrier(lmpi_process.comm, &request) != MPI_SUCCESS)
        return;
    while (!done) {
        uccs_progress();
        if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return;
        if (!done && lmpi_process.crowded)
            usleep(20);
    }
}

/* The delete callback of MPI_COMM_SELF: MPI_Finalize has begun, and the MPI still works. */
static int end_substrate(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm, (void)key, (void)value, (void)state;
    if (!lmpi_process.running)
        return MPI_SUCCESS;
    wait_for_all();
    lmpi_process.running = false;
    lmpi_process.why_not = "MPI_Finalize has been called";
    lmpi_progress_end();
    lmpi_windows_end();
    lmpi_tables_end();
    lmpi_streams_end();
    uccs_context_destroy(lmpi_process.context);
    uccs_finalize();
    lmpi_environment_end();
    lmpi_types_end();
    lmpi_endpoints_end();
    lmpi_real.Group_free(&lmpi_process.world);
    PMPI_Comm_free(&lmpi_process.self);
    PMPI_Comm_free(&lmpi_process.comm);
    return MPI_SUCCESS;
}

static bool asked_for(const char *name)
{
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0") != 0;
}

/* Returns null, or why the program wants no windows of ours. */
static const char *find_wish(void)
{
    const char *text = getenv("LATERAL_MPI");
    if (text && strcmp(text, "0") == 0)
        return "LATERAL_MPI is 0";
    const char *job = getenv("LATERAL_JOB"); /* in the children of a rank it says that the rank's place is taken */
    return job && *job >= '0' && *job <= '9' ? "oshrun has started this process" : 0;
}

/* Local: no other rank waits for this one yet. Returns null, or why this process cannot take part. */
static const char *prepare_rank(void)
{
    setenv("LATERAL_PROGRESS", "thread", 0); /* windows go on while their owners compute, or wait in the MPI */
    return lmpi_environment_embed() == UCCS_ERR_INVALID ? "a variable of its environment is wrong" : 0;
}

static const char another[] = "another rank cannot";
static const char table_key[] = "lateral.windows";

static bool find_table(int world, struct lmpi_handle *handle)
{
    handle->length = (uint32_t)lmpi_environment_ask(world, table_key, handle->handle, sizeof handle->handle);
    return handle->length;
}

/* Returns false without memory. */
static bool begin_tables(void)
{
    struct lmpi_handle own;
    lmpi_process.one_node = lmpi_is_on_one_node();
    return lmpi_tables_begin(&own, find_table) && lmpi_environment_tell(table_key, own.handle, own.length);
}

/* Collective. Returns null, or why this process cannot take part. */
static const char *start_substrate(void)
{
    const struct uccs_context_attr attr = {.id = CONTEXT};
    const int status = uccs_init();
    if (status == UCCS_ERR_FAILED || (status != UCCS_OK && lmpi_environment_failed()))
        return another;
    if (status != UCCS_OK)
        return "the substrate did not start, as a line of it says";
    if (uccs_group_rank(UCCS_GROUP_WORLD) != lmpi_process.rank ||
        uccs_group_size(UCCS_GROUP_WORLD) != lmpi_process.ranks)
        return "the substrate was started before, and numbers the processes in another way";
    if (uccs_context_create(&attr, &lmpi_process.context) != UCCS_OK)
        return "the program uses the context that the library needs";
    if (!lmpi_endpoints_begin(lmpi_process.ranks) || !lmpi_types_begin() || !begin_tables())
        return "no memory";
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_substrate, &self_key, 0) != MPI_SUCCESS ||
        PMPI_Comm_set_attr(MPI_COMM_SELF, self_key, 0) != MPI_SUCCESS ||
        PMPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &lmpi_process.foreign_key, 0) != MPI_SUCCESS)
        return "MPI_COMM_SELF takes no attribute";
    return 0;
}

static void log_refusal(int rank, const char *reason)
{
    fprintf(stderr, "lateral-mpi: rank %d cannot have windows of Lateral: %s; all windows are those of " LMPI_MPI "\n",
            rank, reason);
}

/* Collective. Returns null when no rank has a reason against it; else the reason of the lowest rank that has one, which
 * rank 0 prints unless all ranks have been told to leave windows to the MPI. */
static const char *agree_on(const char *why_not, bool is_unwanted)
{
    static char reason[128];
    const int ranks = lmpi_process.ranks, mine = why_not == another ? ranks + lmpi_process.rank : lmpi_process.rank;
    int vote[] = {why_not ? mine : INT_MAX, is_unwanted}, all[2];
    if (PMPI_Allreduce(vote, all, 2, MPI_INT, MPI_MIN, lmpi_process.comm) != MPI_SUCCESS)
        return "the ranks cannot agree";
    if (all[0] == INT_MAX)
        return 0;
    snprintf(reason, sizeof reason, "%s", why_not ? why_not : "");
    PMPI_Bcast(reason, sizeof reason, MPI_CHAR, all[0] % ranks, lmpi_process.comm);
    if (lmpi_process.rank == 0 && !all[1])
        log_refusal(all[0] % ranks, reason);
    return reason;
}

/* Collective. Rank 0's library must be this one. Returns null, or why it is not. */
static const char *compare_version(void)
{
    static char why[128];
    char version[32] = LATERAL_VERSION, first[32] = LATERAL_VERSION;
    PMPI_Bcast(first, sizeof first, MPI_CHAR, 0, lmpi_process.comm);
    first[sizeof first - 1] = 0;
    snprintf(why, sizeof why, "its library is of version %s, that of rank 0 of version %s", version, first);
    return strcmp(version, first) ? why : 0;
}

/* Returns null, or why windows are the MPI's. A rank that cannot take part says so before any rank waits for it in the
 * substrate. */
static const char *begin_substrate(void)
{
    static const char strange[] =
        "it runs without this library (start all programs of the job with lateral-mpi; static ones cannot)";
    bool first;
    const int absent = lmpi_presence_find_absent(&first);
    if (first)
        log_refusal(absent, strange);
    if (absent >= 0)
        return "a rank runs without this library";
    PMPI_Comm_dup(MPI_COMM_WORLD, &lmpi_process.comm);
    PMPI_Comm_set_errhandler(lmpi_process.comm, MPI_ERRORS_RETURN);
    const char *wish = find_wish(), *other = compare_version(), *why = wish ? wish : other ? other : prepare_rank();
    const char *refused = agree_on(why, wish != 0);
    if (refused) {
        lmpi_environment_end();
        return refused;
    }
    why = start_substrate();
    return lmpi_environment_agree(!why) ? 0 : agree_on(why ? why : another, false);
}

static void begin_process(void)
{
    int level = MPI_THREAD_SINGLE;
    PMPI_Comm_rank(MPI_COMM_WORLD, &lmpi_process.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &lmpi_process.ranks);
    PMPI_Query_thread(&level);
    lmpi_process.any_thread = level == MPI_THREAD_MULTIPLE;
    lmpi_process.any_calls = level != MPI_THREAD_SERIALIZED;
    PMPI_Comm_dup(MPI_COMM_SELF, &lmpi_process.self);
    PMPI_Comm_set_errhandler(lmpi_process.self, MPI_ERRORS_RETURN);
    PMPI_Comm_group(MPI_COMM_WORLD, &lmpi_process.world);
    lmpi_process.checked = asked_for("LATERAL_CHECK");
    lmpi_process.crowded = lmpi_process.ranks > sysconf(_SC_NPROCESSORS_ONLN);
    lmpi_process.why_not = begin_substrate();
    lmpi_process.running = !lmpi_process.why_not;
    if (lmpi_process.running)
        lmpi_progress_begin();
    if (lmpi_verbose() && lmpi_process.rank == 0)
        lmpi_log(lmpi_process.running ? "windows of this job are Lateral's, over " LMPI_MPI "%s"
                                      : "all windows are those of " LMPI_MPI ": %s",
                 lmpi_process.running ? "" : lmpi_process.why_not);
}

static void before_start(void)
{
    lmpi_presence_publish();
    lmpi_workers_record(true);
}

static int after_start(int status)
{
    lmpi_workers_record(false);
    if (status == MPI_SUCCESS)
        begin_process();
    return status;
}

LMPI_EXPORT int MPI_Init(int *argc, char ***argv)
{
    before_start();
    return after_start(lmpi_real.Init(argc, argv));
}
LMPI_NAME(Init);

LMPI_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    before_start();
    return after_start(lmpi_real.Init_thread(argc, argv, required, provided));
}
LMPI_NAME(Init_thread);
