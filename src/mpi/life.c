#include "life.h"

#include "progress.h"
#include "real.h"
#include "streams.h"
#include "types.h"
#include "verbose.h"

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
    if (PMPI_Ibarrier(lmpi_life.comm, &request) != MPI_SUCCESS)
        return;
    while (!done) {
        uccs_progress();
        if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return;
        if (!done && lmpi_life.crowded)
            usleep(20);
    }
}

/* The delete callback of MPI_COMM_SELF: MPI_Finalize has begun, and the MPI still works. */
static int end_life(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm, (void)key, (void)value, (void)state;
    if (!lmpi_life.running)
        return MPI_SUCCESS;
    wait_for_all();
    lmpi_life.running = false;
    lmpi_life.why_not = "MPI_Finalize has been called";
    lmpi_progress_end();
    lmpi_spare_end();
    lmpi_streams_end();
    uccs_context_destroy(lmpi_life.context);
    uccs_finalize();
    lmpi_environment_end();
    lmpi_types_end();
    lmpi_endpoints_end();
    PMPI_Group_free(&lmpi_life.world);
    PMPI_Comm_free(&lmpi_life.self);
    PMPI_Comm_free(&lmpi_life.comm);
    return MPI_SUCCESS;
}

/* Returns null, or why this process cannot take part. */
static const char *begin_here(void)
{
    const struct uccs_context_attr attr = {.id = CONTEXT};
    setenv("LATERAL_PROGRESS", "thread", 0); /* windows go on while their owners compute, or wait in the MPI */
    if (lmpi_environment_give() == UCCS_ERR_INVALID)
        return "the substrate refuses the environment";
    if (uccs_init() != UCCS_OK) /* it has printed the cause */
        return "the substrate did not start";
    if (uccs_group_rank(UCCS_GROUP_WORLD) != lmpi_life.rank || uccs_group_size(UCCS_GROUP_WORLD) != lmpi_life.ranks)
        return "the substrate was started before, and numbers the processes in another way";
    if (uccs_context_create(&attr, &lmpi_life.context) != UCCS_OK)
        return "the program uses the context that the library needs";
    return lmpi_endpoints_begin(lmpi_life.ranks) && lmpi_types_begin() ? 0 : "no memory";
}

static const char *begin_with(const char *why_not)
{
    int good = !why_not, all = 0;
    if (PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, lmpi_life.comm) != MPI_SUCCESS || !all)
        return why_not ? why_not : "another rank cannot";
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_life, &self_key, 0) != MPI_SUCCESS ||
        PMPI_Comm_set_attr(MPI_COMM_SELF, self_key, 0) != MPI_SUCCESS)
        return "MPI_COMM_SELF takes no attribute";
    return 0;
}

static bool asked_for(const char *name)
{
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0") != 0;
}

/* Returns null, or why windows are not ours, which all ranks find out alike. */
static const char *wanted(void)
{
    const char *text = getenv("LATERAL_MPI");
    if (text && strcmp(text, "0") == 0)
        return "LATERAL_MPI is 0";
    return getenv("LATERAL_JOB") ? "oshrun has started this process" : 0;
}

static void begin(void)
{
    int level = MPI_THREAD_SINGLE;
    PMPI_Comm_rank(MPI_COMM_WORLD, &lmpi_life.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &lmpi_life.ranks);
    PMPI_Query_thread(&level);
    lmpi_life.any_thread = level == MPI_THREAD_MULTIPLE;
    lmpi_life.any_calls = level != MPI_THREAD_SERIALIZED;
    lmpi_life.why_not = wanted();
    if (lmpi_life.why_not)
        return;
    PMPI_Comm_dup(MPI_COMM_WORLD, &lmpi_life.comm);
    PMPI_Comm_dup(MPI_COMM_SELF, &lmpi_life.self);
    PMPI_Comm_set_errhandler(lmpi_life.comm, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(lmpi_life.self, MPI_ERRORS_RETURN);
    PMPI_Comm_group(MPI_COMM_WORLD, &lmpi_life.world);
    lmpi_life.checked = asked_for("LATERAL_CHECK");
    lmpi_life.crowded = lmpi_life.ranks > sysconf(_SC_NPROCESSORS_ONLN);
    lmpi_life.why_not = begin_with(begin_here());
    lmpi_life.running = !lmpi_life.why_not;
    if (lmpi_life.running)
        lmpi_progress_begin();
    if (lmpi_verbose() && (lmpi_life.rank == 0 || !lmpi_life.running))
        lmpi_say(lmpi_life.running ? "windows of this job are Lateral's, over " LMPI_MPI "%s%s"
                                   : "all windows are those of " LMPI_MPI ": %s%s",
                 lmpi_life.running ? "" : lmpi_life.why_not, "");
}

LMPI_EXPORT int MPI_Init(int *argc, char ***argv)
{
    lmpi_workers_record(true);
    int status = lmpi_real.Init(argc, argv);
    lmpi_workers_record(false);
    if (status == MPI_SUCCESS)
        begin();
    return status;
}
LMPI_NAME(Init);

LMPI_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    lmpi_workers_record(true);
    int status = lmpi_real.Init_thread(argc, argv, required, provided);
    lmpi_workers_record(false);
    if (status == MPI_SUCCESS)
        begin();
    return status;
}
LMPI_NAME(Init_thread);
