/* How a PE ends its job: who claims the end, what a launcher that is not ours is told and how often, and that a PE which has asked for
 * the end, or waits for it, does not wait for ever. The launcher is made up; each case runs in a child. */
#include <time.h>
#include <unistd.h>

static int sleep_made_up(const struct timespec *time, struct timespec *left);
static int pause_made_up(void);
#define nanosleep sleep_made_up
#define pause pause_made_up
#include "rte/end.c"
#include "rte/orphan.c"
#undef nanosleep
#undef pause

#include "unit/errors.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* What the child has done; in memory that both share. */
static struct seen {
    int aborts, abort_status, finishes, slept, naps, paused, on_end, armed, handler, blocked, state;
} * seen;

static int answer; /* of the launcher to an abort */
static bool ends_itself;

static int sleep_made_up(const struct timespec *time, struct timespec *left)
{
    (void)left;
    seen->slept += (int)time->tv_sec;
    seen->naps++;
    seen->state = (int)rte.node->ending;
    return 0;
}

/* How the process waits for its end. */
static void note_limit(void)
{
    struct sigaction now;
    sigset_t blocked;
    seen->armed = (int)alarm(0);
    CHECK(sigaction(SIGALRM, 0, &now) == 0 && sigprocmask(SIG_SETMASK, 0, &blocked) == 0);
    seen->handler = now.sa_handler == end_late;
    seen->blocked = sigismember(&blocked, SIGALRM);
}

static int pause_made_up(void)
{
    seen->paused++;
    note_limit();
    _exit(70);
}

static int launcher_aborts(int status)
{
    seen->aborts++;
    seen->abort_status = status;
    note_limit();
    return answer;
}

static void launcher_finishes(void)
{
    seen->finishes++;
}

static bool launcher_ends(void)
{
    return ends_itself;
}

static int launcher_end = -1;

static int launcher_descriptor(void)
{
    return launcher_end;
}

static const struct rte_backend made_up = {.name = "made up",
                                           .abort = launcher_aborts,
                                           .finish = launcher_finishes,
                                           .ending = launcher_ends,
                                           .descriptor = launcher_descriptor};

static void on_end(void)
{
    seen->on_end++;
    seen->state = (int)rte.node->ending;
}

static void open_node(void)
{
    const size_t bytes = sizeof(struct node) + 3 * sizeof(struct node_pe);
    seen = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    rte.fd = memfd_create("lateral", MFD_CLOEXEC);
    open_errors();
    CHECK(seen != MAP_FAILED && rte.fd >= 0 && ftruncate(rte.fd, (off_t)bytes) == 0);
    rte.node = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rte.fd, 0);
    CHECK(rte.node != MAP_FAILED);
}

/* Runs it in PE 6, number 1 of a node of three. Returns the child's status; -N: it was killed by signal N. */
static int run(void (*body)(void), const struct rte_backend *backend)
{
    struct node *const node = rte.node;
    int status;
    memset(seen, 0, sizeof *seen);
    memset(node, 0, sizeof *node + 3 * sizeof node->pe[0]);
    forget_errors();
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(errors, STDERR_FILENO);
        rte_backend = backend;
        rte_is_this_process();
        rte_on_end = on_end;
        rte.pe = 6;
        rte.node_index = 1;
        rte.node_size = 3;
        rte.me = &node->pe[1];
        rte.me->state = NODE_RUNNING;
        rte.me->pid = getpid();
        body();
        rte_backend = 0; /* nothing happens at exit */
        _exit(60);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status))
        tell_errors();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static bool claimed(enum node_ending how, int status)
{
    return rte.node->ending == how && rte.node->end_status == status && rte.node->end_pe == 6;
}

static bool limited(void)
{
    return seen->armed > 0 && seen->armed <= SECONDS_TO_END && seen->handler && !seen->blocked;
}

/* ---- the claim ---- */

static void claims(void)
{
    CHECK(!rte_ending());
    CHECK(rte_claim_end(NODE_GLOBAL_EXIT, 5) && rte_ending());
    CHECK(!rte_claim_end(NODE_ABORTED, 9));
}

static void claims_late(void)
{
    rte.node->ending = NODE_ENDING_CLAIMED;
    CHECK(rte_ending() && !rte_claim_end(NODE_ABORTED, 9));
}

static void claims_without_a_node(void)
{
    rte.node = 0;
    CHECK(!rte_ending() && !rte_claim_end(NODE_ABORTED, 9));
}

static void claims_for_nobody(void)
{
    rte_on_end = 0;
    CHECK(rte_claim_end(NODE_ABORTED, 9));
}

static void one_claims(void)
{
    CHECK(run(claims, 0) == 60 && claimed(NODE_GLOBAL_EXIT, 5));
    CHECK(seen->on_end == 1 && seen->state == NODE_GLOBAL_EXIT);
    CHECK(run(claims_late, 0) == 60 && seen->on_end == 0 && rte.node->ending == NODE_ENDING_CLAIMED);
    CHECK(run(claims_without_a_node, 0) == 60 && seen->on_end == 0);
    CHECK(run(claims_for_nobody, 0) == 60 && seen->on_end == 0 && claimed(NODE_ABORTED, 9));
}

/* ---- aborts ---- */

static void aborts(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, 0);
    rte_abort(9);
}

static void aborts_in_a_child(void)
{
    const pid_t child = fork();
    int status;
    if (child == 0)
        rte_abort(9);
    CHECK(waitpid(child, &status, 0) == child);
    rte_backend = 0;
    _exit(WEXITSTATUS(status));
}

static void abandons(void)
{
    rte_abandon(8);
}

static void expects(void)
{
    rte_expect_end();
    note_limit();
}

static void awaits(void)
{
    rte_await_end();
}

/* Without a launcher of others nobody is told: the guard is the parent. */
static void alone(void)
{
    CHECK(run(aborts, 0) == 9 && claimed(NODE_ABORTED, 9) && !seen->aborts);
    CHECK(run(abandons, 0) == 8 && claimed(NODE_ABORTED, 8) && !seen->slept && !seen->paused);
    CHECK(run(expects, 0) == 60 && claimed(NODE_ABORTED, LAT_EXIT) && !seen->armed && !seen->handler);
    CHECK(run(awaits, 0) == 70 && !rte.node->ending && !seen->armed && !seen->handler);
}

static void with_a_launcher(void)
{
    answer = 0;
    CHECK(run(aborts, &made_up) == 9 && claimed(NODE_ABORTED, 9));
    CHECK(seen->aborts == 1 && seen->abort_status == 9 && limited());
    CHECK(run(aborts_in_a_child, &made_up) == 9 && !seen->aborts);
    CHECK(run(abandons, &made_up) == 70 && claimed(NODE_ABORTED, 8) && seen->aborts == 1 && seen->abort_status == 8);
    CHECK(seen->slept == SECONDS_TO_SEE && seen->state == NODE_ABORTED && seen->paused == 1);
    CHECK(run(expects, &made_up) == 60 && claimed(NODE_ABORTED, LAT_EXIT) && limited() && !seen->aborts);
    CHECK(run(awaits, &made_up) == 70 && !rte.node->ending && limited() && !seen->aborts);
}

static void ends_by_the_first_status(void)
{
    rte_claim_end(NODE_GLOBAL_EXIT, 3);
    rte_abort(9);
}

static void ends_late(void)
{
    rte.node->end_status = 7;
    end_late(SIGALRM);
}

static void ends_without_a_node(void)
{
    rte.node = 0;
    rte_end_node();
}

static void ends_without_status(void)
{
    rte_end_node();
}

/* A launcher that cannot be reached: the PE ends its node itself. */
static void out_of_reach(void)
{
    answer = -1;
    CHECK(run(ends_by_the_first_status, &made_up) == 3 && seen->aborts == 1 && seen->abort_status == 9);
    CHECK(run(abandons, &made_up) == 8 && seen->aborts == 1 && !seen->paused);
    CHECK(run(ends_late, &made_up) == 7 && run(ends_without_a_node, &made_up) == LAT_EXIT);
    CHECK(run(ends_without_status, &made_up) == LAT_EXIT);
    answer = 0;
}

/* ---- a launcher that is gone ---- */

static void looks_at(int fd)
{
    launcher_end = fd;
    rte_look_for_launcher();
}

static void looks_at_nothing(void)
{
    looks_at(-1);
}

static void looks_at_one_that_is_there(void)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    looks_at(ends[0]);
    CHECK(write(ends[1], "x", 1) == 1); /* a word of it, not its end */
    looks_at(ends[0]);
}

static void looks_at_one_that_is_gone(void)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    close(ends[1]);
    looks_at(ends[0]);
}

static void looks_at_the_end(void)
{
    rte_claim_end(NODE_GLOBAL_EXIT, 4);
    looks_at_one_that_is_gone();
}

static void awaits_the_hangup(void)
{
    int ends[2];
    launcher_end = -1;
    CHECK(await_hangup(ends) == ends); /* the library has left it */
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    close(ends[1]);
    launcher_end = ends[0];
    await_hangup(0);
}

static void looks(void)
{
    CHECK(run(awaits_the_hangup, &made_up) == LAT_EXIT && seen->naps == LOOKS && says("the launcher is gone"));
    CHECK(run(looks_at_nothing, &made_up) == 60);
    CHECK(run(looks_at_one_that_is_there, &made_up) == 60 && says(""));
    CHECK(run(looks_at_one_that_is_gone, &made_up) == LAT_EXIT &&
          says("the launcher is gone: the PEs of this host end"));
    CHECK(run(looks_at_the_end, &made_up) == 4 && says(""));
}

/* ---- taking leave ---- */

static void leaves(void)
{
    rte_leave();
    rte_leave();
}

static void leaves_done(void)
{
    rte_finalize();
    seen->state = (int)rte.me->state;
    leaves();
}

static void leaves_without_a_seat(void)
{
    rte.me = 0;
    leaves();
}

static void leaves_when_it_ends(void)
{
    ends_itself = true;
    leaves_done();
}

static void leaves_in_a_child(void)
{
    const pid_t child = fork();
    int status;
    if (child == 0) {
        leaves_done();
        rte_backend = 0;
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void leaves_by_global_exit(void)
{
    rte_claim_end(NODE_GLOBAL_EXIT, 4);
    leaves();
}

static void leaves_while_another_exits(void)
{
    rte_claim_end(NODE_GLOBAL_EXIT, 4);
    rte.node->end_pe = 5;
    leaves();
}

static void exits_with_3(void)
{
    rte_note_exit();
    exit(3);
}

static void exits_with_0(void)
{
    rte_note_exit();
    exit(0);
}

static void all_leave(void)
{
    CHECK(run(leaves, 0) == 60 && !seen->aborts && says(""));
    CHECK(run(leaves_done, &made_up) == 60 && seen->finishes == 1 && !seen->aborts && seen->state == NODE_FINALISED);
    CHECK(run(leaves_when_it_ends, &made_up) == 60 && !seen->finishes && !seen->aborts);
    CHECK(run(leaves_in_a_child, &made_up) == 60 && !seen->finishes && !seen->aborts);
    CHECK(run(leaves, &made_up) == 60 && seen->aborts == 1 && seen->abort_status == LAT_EXIT && !seen->finishes);
    CHECK(claimed(NODE_ABORTED, LAT_EXIT) && limited() && says("left with exit status 0 before shmem_finalize"));
    CHECK(run(leaves_without_a_seat, &made_up) == 60 && seen->aborts == 1 && !seen->finishes);
    CHECK(run(leaves_by_global_exit, &made_up) == 60 && seen->aborts == 1 && seen->abort_status == 4 && says(""));
    CHECK(run(leaves_while_another_exits, &made_up) == 60 && seen->abort_status == LAT_EXIT && says("left with"));
    CHECK(rte.node->ending == NODE_GLOBAL_EXIT && rte.node->end_status == 4);
    CHECK(run(exits_with_3, &made_up) == 3 && seen->aborts == 1 && seen->abort_status == 3);
    CHECK(claimed(NODE_ABORTED, 3) &&
          says("left with exit status 3 before shmem_finalize or uccs_finalize: the job ends"));
    CHECK(run(exits_with_0, &made_up) == 0 && seen->aborts == 1 && seen->abort_status == LAT_EXIT);
    answer = -1;
    CHECK(run(leaves_by_global_exit, &made_up) == 4 && seen->aborts == 1);
    CHECK(run(exits_with_0, &made_up) == LAT_EXIT && seen->aborts == 1);
}

int main(void)
{
    open_node();
    one_claims();
    alone();
    with_a_launcher();
    out_of_reach();
    looks();
    all_leave();
    return 0;
}
