/* How the layer begins with the MPI and ends with it, makes progress both ways, waits and tells of it, and by which endpoints and streams
 * its operations travel. Its functions run by themselves.
 * ranks: 1 */
#include "running_stub.h"

#include "running_progress.h"
#include "running_mpix.h"
#include "running_symbols.h"

/* ---- begin ---- */

static int init_of_mpi, required_of_mpi;

static int real_init(int *argc, char ***argv)
{
    CHECK(!argc && !argv && happened > 0 && events[happened - 1].what == RECORD && events[happened - 1].how == 1);
    note(RECORD, 1, 1);
    return init_of_mpi;
}

static int real_init_thread(int *argc, char ***argv, int required, int *provided)
{
    required_of_mpi = required;
    *provided = 66;
    return real_init(argc, argv);
}

static void fresh(void)
{
    lmpi_life = (struct lmpi_life){.comm = MPI_COMM_NULL, .self = MPI_COMM_NULL};
    lmpi_real.Init = real_init;
    lmpi_real.Init_thread = real_init_thread;
    unsetenv("LATERAL_MPI");
    unsetenv("LATERAL_JOB");
    unsetenv("LATERAL_CHECK");
    unsetenv("LATERAL_PROGRESS");
    unsetenv("LATERAL_MPI_VERBOSE");
    level = MPI_THREAD_MULTIPLE;
    init_of_mpi = environment_status = init_status = context_status = types_fail = keyval_status = attr_status =
        MPI_SUCCESS;
    agree = 1;
    processors = 4;
    world_rank = RANK;
    world_size = RANKS;
    returning = 0;
    resources = 1;
    *said = 0;
    start_over();
}

static void begins(void)
{
    fresh();
    setenv("LATERAL_CHECK", "1", 1);
    OK(layer_Init(0, 0));
    NEXT(RECORD, 0, 1);
    NEXT(RECORD, 1, 1);
    NEXT(RECORD, 0, 0);
    NEXT(GIVEN, 0, 0);
    NEXT(STARTED, 0, 0);
    NEXT(CONTEXT, 0, 0);
    NEXT(TYPES, 0, 0);
    NEXT(POLLER_ADDED, 0, 0);
    NEXT(REGISTERED, 0, 0);
    NO_MORE();
    CHECK(lmpi_life.running && !lmpi_life.why_not && lmpi_life.rank == RANK && lmpi_life.ranks == RANKS);
    CHECK(lmpi_life.comm == COMM(7) && lmpi_life.self == COMM(8) && lmpi_life.world == GROUP(4) &&
          lmpi_life.context == the_context);
    CHECK(lmpi_life.checked && lmpi_life.crowded && lmpi_life.any_thread && lmpi_life.any_calls && returning == 3 &&
          good_here == 1);
    CHECK(strcmp(getenv("LATERAL_PROGRESS"), "thread") == 0 && !*said);
}

static void ends(void)
{
    CHECK(lmpi_endpoint_along(LMPI_THREAD, 2) != 0);
    start_over();
    tests_left = 2;
    slept = progressed = 0;
    OK(end_callback(MPI_COMM_SELF, 55, 0, 0));
    NEXT(BARRIER, 0, 0);
    for (int i = 0; i < 3; i++)
        NEXT(TESTED, 0, 0);
    CHECK(slept == 2 && progressed == 3);
    const int order[] = {POLLER_GONE,  UNREGISTERED, SPARE_ENDED,       GONE_STREAM, GONE_REQUEST,
                         CONTEXT_GONE, FINALIZED,    ENVIRONMENT_ENDED, TYPES_ENDED, GROUP_FREED};
    for (int i = 0; i < 10; i++)
        NEXT(order[i], 0, 0);
    NEXT(COMM_FREED, 8, 0);
    NEXT(COMM_FREED, 7, 0);
    NO_MORE();
    CHECK(!lmpi_life.running && strcmp(lmpi_life.why_not, "MPI_Finalize has been called") == 0 && !endpoints);
    OK(end_callback(MPI_COMM_SELF, 55, 0, 0));
    NO_MORE();
}

/* All ranks come before the substrate ends; an error of the MPI's is not waited for. */
static void last_meeting(void)
{
    fresh();
    lmpi_life.comm = COMM(7);
    lmpi_life.crowded = false;
    tests_left = 1;
    slept = progressed = 0;
    RETURNS(wait_for_all());
    CHECK(slept == 0 && progressed == 2 && happened == 3);
    tests_left = 5;
    test_status = MPI_ERR_OTHER;
    RETURNS(wait_for_all());
    CHECK_EQ(happened, 5);
    test_status = MPI_SUCCESS;
    barrier_status = MPI_ERR_OTHER;
    RETURNS(wait_for_all());
    CHECK_EQ(happened, 6);
    barrier_status = MPI_SUCCESS;
}

static void levels(void)
{
    const int all[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    int provided = 0;
    for (int i = 0; i < 4; i++) {
        fresh();
        level = all[i];
        processors = RANKS - (i % 2);
        OK(layer_Init_thread(0, 0, all[i], &provided));
        CHECK(provided == 66 && required_of_mpi == all[i] && lmpi_life.running && !lmpi_life.checked);
        CHECK(lmpi_life.any_thread == (i == 3) && lmpi_life.any_calls == (i != 2) && is_main == (i != 2));
        CHECK_EQ(lmpi_life.crowded, i % 2);
        tests_left = 0;
        OK(end_callback(MPI_COMM_SELF, 55, 0, 0));
    }
    fresh();
    init_of_mpi = MPI_ERR_OTHER;
    CHECK_EQ(layer_Init(0, 0), MPI_ERR_OTHER);
    CHECK_EQ(layer_Init_thread(0, 0, MPI_THREAD_SINGLE, &provided), MPI_ERR_OTHER);
    CHECK(happened == 6 && !lmpi_life.running && !lmpi_life.why_not);
}

/* Windows are the MPI's, for this reason. */
static void is_not_ours(const char *why, int good)
{
    good_here = 1;
    setenv("LATERAL_MPI_VERBOSE", "1", 1);
    OK(layer_Init(0, 0));
    CHECK(!lmpi_life.running && lmpi_life.why_not && strcmp(lmpi_life.why_not, why) == 0 && good_here == good);
    for (int i = 0; i < happened; i++)
        CHECK(events[i].what != POLLER_ADDED);
    lmpi_endpoints_end();
    fresh();
}

static void refusals(void)
{
    fresh();
    setenv("LATERAL_MPI", "0", 1);
    is_not_ours("LATERAL_MPI is 0", 1);
    setenv("LATERAL_JOB", "x", 1);
    is_not_ours("oshrun has started this process", 1);
    environment_status = UCCS_ERR_INVALID;
    is_not_ours("the substrate refuses the environment", 0);
    init_status = UCCS_ERR_STATE;
    is_not_ours("the substrate did not start", 0);
    world_rank++;
    is_not_ours("the substrate was started before, and numbers the processes in another way", 0);
    world_size--;
    is_not_ours("the substrate was started before, and numbers the processes in another way", 0);
    context_status = UCCS_ERR_INVALID;
    is_not_ours("the program uses the context that the library needs", 0);
    types_fail = 1;
    is_not_ours("no memory", 0);
    agree = 0;
    is_not_ours("another rank cannot", 1);
    agree = -1;
    is_not_ours("another rank cannot", 1);
    keyval_status = MPI_ERR_OTHER;
    is_not_ours("MPI_COMM_SELF takes no attribute", 1);
    attr_status = MPI_ERR_OTHER;
    is_not_ours("MPI_COMM_SELF takes no attribute", 1);
    setenv("LATERAL_MPI", "1", 1); /* others are no refusal */
    setenv("LATERAL_PROGRESS", "mine", 1);
    environment_status = UCCS_ERR_STATE;
    OK(layer_Init(0, 0));
    CHECK(lmpi_life.running && strcmp(getenv("LATERAL_PROGRESS"), "mine") == 0);
    OK(end_callback(MPI_COMM_SELF, 55, 0, 0));
}

/* ---- what is printed ---- */

static void lines(void)
{
    const struct {
        const char *value;
        bool asked;
    } rows[] = {{"", false}, {"0", false}, {"1", true}, {"yes", true}};
    fresh();
    CHECK(!lmpi_verbose() && !asked_for("LATERAL_CHECK"));
    for (int i = 0; i < 4; i++) {
        setenv("LATERAL_MPI_VERBOSE", rows[i].value, 1);
        setenv("LATERAL_CHECK", rows[i].value, 1);
        CHECK_EQ(lmpi_verbose() != 0, rows[i].asked);
        CHECK_EQ(asked_for("LATERAL_CHECK"), rows[i].asked);
    }
    setenv("LATERAL_CHECK", "00", 1);
    CHECK(asked_for("LATERAL_CHECK"));
    lmpi_life.rank = 17;
    RETURNS(lmpi_say("%d of %s", 5, "these"));
    CHECK(strcmp(said, "lateral-mpi: rank 17: 5 of these\n") == 0);
    fresh();
    setenv("LATERAL_MPI_VERBOSE", "1", 1);
    OK(layer_Init(0, 0)); /* rank 0 alone tells that all is well */
    CHECK(lmpi_life.running && !*said);
    OK(end_callback(MPI_COMM_SELF, 55, 0, 0));
    fresh();
    setenv("LATERAL_MPI_VERBOSE", "1", 1);
    rank_here = world_rank = 0;
    OK(layer_Init(0, 0));
    CHECK(strcmp(said, "lateral-mpi: rank 0: windows of this job are Lateral's, over the test's MPI\n") == 0);
    OK(end_callback(MPI_COMM_SELF, 55, 0, 0));
    rank_here = RANK;
    fresh();
    setenv("LATERAL_MPI_VERBOSE", "1", 1);
    context_status = UCCS_ERR_INVALID;
    OK(layer_Init(0, 0));
    CHECK(
        strcmp(
            said,
            "lateral-mpi: rank 3: all windows are those of the test's MPI: the program uses the context that the library needs\n") ==
        0);
    fresh();
}

int main(void)
{
    check_start(MPI_THREAD_SINGLE);
    begins();
    ends();
    last_meeting();
    levels();
    refusals();
    lines();
    endpoints_of_ranks();
    streams_of_kinds();
    progress_begins();
    looks_of_waits();
    both_ways();
    pauses();
    told_waits();
    workers_of_mpi();
    fortran_attributes();
    fortran_module();
    fresh();
    return check_pass();
}
