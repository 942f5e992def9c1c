/* The life of the library: what init and finalize open and close, in which order, and how they nest; what is left when a step of them
 * fails; what an exit does without finalize, and which calls end the job. */
#include "noted.h"
#include "refused.h"

#include "shmem/calls.h"
#include "shmem/coll/select.h"
#include "shmem/ctx.h"
#include "shmem/mem.h"
#include "shmem/team.h"
#include "uccs/coll/coll.h"
#include "uccs/core/wait.h"
#include "uccs/life.h"

enum { NPES = 6 };

struct shmem_team_impl lat_team_world, lat_team_shared;
struct shmem_ctx_impl lat_ctx_default;
static bool no_life, no_memory, terminal, stranger, ends_badly;
static void (*hook)(int status, void *argument);
static uint32_t here = NPES; /* PEs of this node */
static int exited = -1, claimed = -1, naps;
static jmp_buf gone;

int uccs_life_begin(void)
{
    CHECK(lat_state != LAT_RUNNING && refused_locked == 1);
    uccs_core.npes = NPES;
    uccs_core.pes = here;
    note("life; ");
    return no_life ? -1 : 0;
}

void lat_coll_open(void)
{
    note("coll; ");
}

int lat_mem_open(void)
{
    note("mem; ");
    return no_memory ? -1 : 0;
}

void lat_team_open(void)
{
    note("team; ");
}

void uccs_coll_meet(bool user)
{
    CHECK(lat_state == LAT_RUNNING && !user); /* the peers may need its memory and teams */
    note("meet; ");
}

void uccs_wait_work_finished(void)
{
    CHECK(lat_state == LAT_RUNNING);
    note("work%s; ", lat_leaving ? " of one that leaves" : "");
}

void lat_team_close(void)
{
    note("close team; ");
}

void lat_mem_close(void)
{
    note("close mem; ");
}

bool uccs_life_end(int seconds)
{
    CHECK(lat_state == LAT_AFTER && !lat_on_node && lat_ctx_default.size == 0 && !lat_ctx_default.team);
    note("end %d; ", seconds);
    return !ends_badly;
}

void lat_barrier_all(void)
{
    note("barrier; ");
}

void lat_info_print(void)
{
    CHECK(lat_state == LAT_RUNNING);
    note("info; ");
}

static int on_exit_stub(void (*what)(int, void *), void *argument)
{
    CHECK(!argument);
    hook = what;
    note("hook; ");
    return 0;
}

static void lines_stub(FILE *file, const char *buffer, int mode, size_t bytes)
{
    CHECK(file == stdout && !buffer && mode == _IOLBF && bytes == 0);
    note("lines; ");
}

static bool terminal_stub(int fd)
{
    CHECK(fd == STDOUT_FILENO);
    return terminal;
}

static _Noreturn void exit_stub(int status)
{
    exited = status;
    longjmp(gone, 1);
}

static void nap_stub(void)
{
    if (++naps == 3)
        longjmp(gone, 1);
}

static bool claim_stub(enum node_ending how, int status)
{
    CHECK(how == NODE_GLOBAL_EXIT && lat_state == LAT_RUNNING);
    claimed = status;
    return true;
}

#undef pause
#define pause() nap_stub()
#define on_exit(what, argument) on_exit_stub(what, argument)
#define setvbuf(file, buffer, mode, bytes) lines_stub(file, buffer, mode, bytes)
#define isatty(fd) terminal_stub(fd)
#define exit(status) exit_stub(status)
#define rte_is_pe() (!stranger)
#define rte_claim_end(how, status) claim_stub(how, status)
#include "shmem/init.c"

#define OPENED "life; coll; mem; team; "
#define CLOSED "work; meet; close team; close mem; end 0; "

static int initialized(void)
{
    int answer = 7;
    lat_query_initialized(&answer);
    return answer;
}

static int level(void)
{
    int answer = 7;
    lat_query_thread(&answer);
    return answer;
}

static void wrong_levels(void)
{
    int provided = 77;
    CHECK(lat_init_thread(SHMEM_THREAD_SINGLE - 1, &provided) == -1 && provided == 77);
    CHECK(lat_init_thread(SHMEM_THREAD_MULTIPLE + 1, &provided) == -1 && provided == 77);
    CHECK(refused_locked == 0);
    NOTED("");
}

static void before(void)
{
    CHECK(initialized() == 0);
    wrong_levels();
    CHECK(depth == 0);
    REFUSED(lat_finalize(), "shmem_finalize: called before shmem_init");
    refused_locked = 0;
    REFUSED(lat_global_exit(3), "shmem_global_exit: called before shmem_init");
    NOTED("");
}

static void that_fail(void)
{
    int provided = 77;
    no_life = true;
    CHECK(lat_init_thread(SHMEM_THREAD_SINGLE, &provided) == -1 && provided == 77 && depth == 0);
    NOTED("life; ");
    CHECK(initialized() == 0 && lat_state == LAT_BEFORE && refused_locked == 0);
    REFUSED(lat_init(), "");
    NOTED("life; ");
    no_life = false;
    no_memory = true;
    CHECK(lat_init_thread(SHMEM_THREAD_SINGLE, &provided) == -1 && provided == 77 && depth == 0);
    NOTED("life; coll; mem; ");
    CHECK(initialized() == 0 && lat_state == LAT_BEFORE && refused_locked == 0);
    no_memory = false;
}

static void running(void)
{
    CHECK(initialized() == 1 && lat_state == LAT_RUNNING && lat_on_node == 1 && refused_locked == 0);
    CHECK(lat_ctx_default.size == NPES && lat_ctx_default.start == 0 && lat_ctx_default.stride == 1);
    CHECK(lat_ctx_default.team == &lat_team_world && !lat_ctx_default.next);
}

static void over(void)
{
    CHECK(initialized() == 0 && lat_state == LAT_AFTER && lat_on_node == 0 && depth == 0 && refused_locked == 0);
}

/* The first life also says what the library is, and hooks itself into the exit, once. */
static void nested(void)
{
    int provided = 77;
    rte.launched = true;
    CHECK(lat_init_thread(SHMEM_THREAD_SERIALIZED, &provided) == 0 && provided == SHMEM_THREAD_SERIALIZED);
    NOTED(OPENED "hook; lines; info; ");
    CHECK(hook == finalize_at_exit && level() == SHMEM_THREAD_SERIALIZED);
    running();
    wrong_levels();
    CHECK(lat_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_SERIALIZED);
    lat_init();
    CHECK(depth == 3);
    running();
    lat_finalize();
    NOTED("barrier; ");
    running();
    lat_finalize();
    NOTED("barrier; ");
    running();
    CHECK(depth == 1);
    lat_finalize();
    NOTED(CLOSED);
    over();
    lat_finalize(); /* once more than it was begun */
    NOTED("");
    over();
    REFUSED(lat_global_exit(3), "shmem_global_exit: called after the last shmem_finalize");
    refused_pauses = 0;
    refused_ending = 2;
    REFUSED(lat_finalize(), "shmem_finalize: called after the last shmem_finalize");
    CHECK(refused_pauses == 2 && refused_ending == 0); /* it waits for the end, while the job ends */
    refused_locked = 0;
    NOTED("");
}

static void again(void)
{
    int provided = 77;
    CHECK(lat_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
    NOTED(OPENED);
    running();
    lat_finalize();
    NOTED(CLOSED);
    over();
    lat_init();
    NOTED(OPENED);
    CHECK(level() == SHMEM_THREAD_SINGLE);
    lat_finalize();
    NOTED(CLOSED);
}

static void over_nodes(void)
{
    for (here = NPES - 1; here <= NPES; here++) {
        lat_init();
        CHECK(lat_state == LAT_RUNNING && lat_on_node == (here == NPES)); /* no PE is on another node */
        lat_finalize();
    }
    here = NPES;
    noted[0] = 0;
}

static void whole_lines(void)
{
    for (int how = 0; how < 4; how++) {
        rte.launched = how & 1;
        terminal = how & 2;
        write_whole_lines();
        NOTED(how == 1 ? "lines; " : "");
    }
    rte.launched = terminal = false;
}

static void exits(void)
{
    for (lat_state = LAT_BEFORE; lat_state <= LAT_AFTER; lat_state += 2)
        hook(0, 0);
    lat_state = LAT_RUNNING;
    hook(1, 0);
    stranger = true;
    hook(0, 0);
    stranger = false;
    CHECK(lat_state == LAT_RUNNING && lat_leaving == 0);
    NOTED("");
    hook(0, 0);
    NOTED("work of one that leaves; close team; close mem; end 5; ");
    CHECK(lat_leaving == 1 && lat_state == LAT_AFTER);
    lat_leaving = 0;
    lat_state = LAT_RUNNING;
    ends_badly = true;
    REFUSED(hook(0, 0),
            "exited without shmem_finalize, and the other PEs did not follow within 5 s; call shmem_finalize "
            "on every PE");
    NOTED("work of one that leaves; close team; close mem; end 5; ");
    ends_badly = false;
    lat_leaving = 0;
}

static void old_way(void)
{
    lat_state = LAT_BEFORE;
    lat_init();
    NOTED(OPENED);
    lat_start_pes(4);
    CHECK(depth == 1 && !started_old_way); /* it runs */
    lat_finalize();
    NOTED(CLOSED);
    lat_start_pes(0);
    NOTED(OPENED);
    CHECK(depth == 1 && started_old_way && level() == SHMEM_THREAD_SINGLE);
    lat_start_pes(0);
    CHECK(depth == 1);
    hook(0, 0); /* such a program waits for its peers as long as they take */
    NOTED("work of one that leaves; meet; close team; close mem; end 0; ");
    lat_leaving = 0;
    lat_start_pes(0);
    CHECK(lat_state == LAT_AFTER);
    NOTED("");
}

static void global_exits(void)
{
    lat_state = LAT_RUNNING;
    lat_on_node = 1;
    if (setjmp(gone) == 0)
        lat_global_exit(3);
    CHECK(exited == 3 && claimed == 3 && naps == 0 && lat_state == LAT_AFTER && lat_on_node == 0);
    exited = claimed = -1;
    lat_state = LAT_RUNNING;
    if (setjmp(gone) == 0)
        lat_global_exit(4); /* of another thread: the first one exits */
    CHECK(exited == -1 && claimed == -1 && naps == 3 && lat_state == LAT_RUNNING);
    lat_state = LAT_AFTER;
    NOTED("");
}

int main(void)
{
    before();
    that_fail();
    nested();
    again();
    over_nodes();
    whole_lines();
    exits();
    old_way();
    global_exits();
    return 0;
}
