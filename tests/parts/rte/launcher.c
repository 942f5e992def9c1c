/* Which launcher a process belongs to, from what the environment says, and whether its node's memory is believed. The launchers are
 * made up; each case runs in a child. */
#include "rte/start.c"

#include "unit/errors.h"

#include <sys/wait.h>

/* What the launchers say, and what was asked of them; in memory that both processes share. */
static struct seen {
    int opened, met, aborted, watched, noted, learnt;
    char taken[512]; /* LATERAL_TAKEN when a launcher was opened */
} * seen;

static bool embedded, pmi_there, pmi_open, pmix_there, refuses, strangers;

static int fence(int seconds, pthread_mutex_t *held)
{
    (void)seconds, (void)held;
    return 0;
}

static const struct rte_backend made_up = {.name = "made up", .fence = fence};

static const struct rte_backend *open_launcher(struct rte_place *place, int which)
{
    *place = (struct rte_place){.pe = 1, .npes = 2, .job = "made up"};
    seen->opened = which;
    snprintf(seen->taken, sizeof seen->taken, "%s", getenv("LATERAL_TAKEN") ? getenv("LATERAL_TAKEN") : "none");
    return refuses ? 0 : &made_up;
}

int rte_embedded_is_there(void)
{
    return embedded;
}

int rte_pmi_is_there(void)
{
    return pmi_there;
}

int rte_pmi_is_open(void)
{
    return pmi_open;
}

int rte_pmix_is_there(void)
{
    return pmix_there;
}

const struct rte_backend *rte_embedded_open(struct rte_place *place)
{
    return open_launcher(place, EMBEDDED);
}

const struct rte_backend *rte_pmi_open(struct rte_place *place)
{
    return open_launcher(place, PMI);
}

const struct rte_backend *rte_pmix_open(struct rte_place *place)
{
    return open_launcher(place, PMIX);
}

/* Makes the memory of a node of two PEs, of which this is the second. */
int rte_meet(const struct rte_place *place)
{
    struct node head = {0};
    const uint64_t nonce[2] = {1, 2};
    CHECK(place->pe == 1 && place->npes == 2 && rte_backend == &made_up && rte.pe == 1 && rte_is_pe());
    seen->met++;
    if (strangers)
        return -1;
    rte.fd = memfd_create("lateral", 0);
    rte.node_index = 1;
    rte.launched = true;
    node_format(&head, 2, 1, nonce);
    CHECK(ftruncate(rte.fd, (off_t)node_fixed_size(2)) == 0);
    CHECK(pwrite(rte.fd, &head, sizeof head, 0) == sizeof head);
    return 0;
}

static int learns;

int rte_nodes_learn(void)
{
    seen->learnt++;
    CHECK(rte.me->state == NODE_RUNNING);
    return learns;
}

void rte_crash_watch(void)
{
    seen->watched++;
}

void rte_note_exit(void)
{
    seen->noted++;
}

_Noreturn void rte_abort(int status)
{
    seen->aborted++;
    _exit(40 + status);
}

/* Returns the status of a child that runs it, 0 when it returns. */
static int run(void (*body)(void))
{
    int status;
    memset(seen, 0, sizeof *seen);
    forget_errors();
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(errors, STDERR_FILENO);
        body();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status))
        tell_errors();
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* ---- the head of the node's memory ---- */

static struct node head;

static void good_head(void)
{
    memset(&head, 0, sizeof head);
    node_format(&head, 4, 2, (uint64_t[2]){1, 2});
    rte.node_index = 0;
}

static bool valid(void)
{
    return head_is_valid(&head, node_fixed_size(head.size));
}

/* Alone, a node is the job; with a launcher it is a part, which lies within the job. */
static void heads(void)
{
    good_head();
    CHECK(valid() && head_is_valid(&head, node_fixed_size(4) + 1) && !head_is_valid(&head, node_fixed_size(4) - 1));
    rte.node_index = 3;
    CHECK(valid());
    rte.node_index = 4;
    CHECK(!valid());
    rte.node_index = -1;
    CHECK(!valid());
    good_head();
    head.magic ^= 1;
    CHECK(!valid());
    good_head();
    head.cores = 0;
    CHECK(!valid());
    uint32_t *const fields[] = {&head.first, &head.total, &head.nodes, &head.scattered, &head.placed};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        good_head();
        ++*fields[i];
        CHECK(!valid());
    }
}

static void heads_of_parts(void)
{
    rte_backend = &made_up;
    good_head();
    head.first = 6;
    head.total = 10;
    CHECK(valid());
    head.nodes = NODE_MAX_NODES;
    CHECK(valid());
    head.nodes++;
    CHECK(!valid());
    head.nodes = 0;
    head.scattered = head.placed = 1;
    CHECK(valid());
    head.first = 7; /* its last PE is behind the job's last */
    CHECK(!valid());
    head.total = INT_MAX;
    head.first = INT_MAX - 4;
    CHECK(valid());
    head.total++;
    CHECK(!valid());
    head.total = 10;
    head.first = UINT32_MAX;
    CHECK(!valid());
    good_head();
    head.size = head.total = NODE_MAX_PES;
    CHECK(valid());
    head.size = ++head.total;
    CHECK(!valid());
}

static bool numbers_fit(uint32_t scattered, uint32_t first, uint32_t one, uint32_t two, uint32_t three)
{
    static _Alignas(struct node) char room[sizeof(struct node) + 3 * sizeof(struct node_pe)];
    struct node *const node = (struct node *)room;
    *node = (struct node){.size = 3, .total = 10, .first = first, .scattered = scattered};
    node->pe[0].number = one;
    node->pe[1].number = two;
    node->pe[2].number = three;
    return numbers_are_valid(node);
}

static void numbers(void)
{
    CHECK(numbers_fit(1, 2, 2, 3, 9) && numbers_fit(1, 0, 0, 4, 5));
    CHECK(!numbers_fit(1, 2, 3, 4, 5) && !numbers_fit(1, 2, 1, 4, 5)); /* not the first */
    CHECK(!numbers_fit(1, 2, 2, 2, 5) && !numbers_fit(1, 2, 2, 4, 4) && !numbers_fit(1, 2, 2, 5, 4));
    CHECK(!numbers_fit(1, 2, 2, 3, 10) && !numbers_fit(1, 2, 2, 3, UINT32_MAX) && !numbers_fit(1, 10, 10, 11, 12));
    CHECK(!numbers_fit(1, 2, 2, UINT32_MAX, 0));
    CHECK(numbers_fit(0, 2, 0, 0, 0) && numbers_fit(0, 2, 99, 1, 4)); /* nobody reads them */
}

/* ---- the place in a job, once taken ---- */

static const char *const words[] = {"PMIX_NAMESPACE", "PMIX_RANK", "PMI_FD", "PMI_RANK", "PMI_PORT", "PMI_ID"};

static void names_of_places(void)
{
    char place[64], behind = 'x';
    name_place(place, sizeof place);
    CHECK(strcmp(place, "//////") == 0);
    for (int i = 0; i < 6; i++)
        setenv(words[i], (char[2]){(char)('a' + i), 0}, 1);
    name_place(place, sizeof place);
    CHECK(strcmp(place, "/a/b/c/d/e/f") == 0);
    struct {
        char text[5], next[4];
    } room = {.next = "xyz"};
    name_place(room.text, sizeof room.text);
    CHECK(strcmp(room.text, "/a/b") == 0 && strcmp(room.next, "xyz") == 0);
    name_place(&behind, 0);
    CHECK(behind == 'x');
}

static void places_are_taken(void)
{
    CHECK(!place_is_taken());
    take_place();
    CHECK(place_is_taken());
    pmi_open = true; /* the descriptor of another job's connection; this process has its own place */
    CHECK(!place_is_taken());
    pmi_open = false;
    for (int i = 0; i < 6; i++) {
        setenv(words[i], "1", 1);
        CHECK(!place_is_taken());
        take_place();
        CHECK(place_is_taken());
    }
    unsetenv(words[0]);
    CHECK(!place_is_taken());
    unsetenv("LATERAL_TAKEN");
    CHECK(!place_is_taken());
}

/* ---- the launcher ---- */

static enum launcher found(const char *chosen, const char *job)
{
    const char *why = "";
    CHECK((chosen ? setenv("LATERAL_RTE", chosen, 1) : unsetenv("LATERAL_RTE")) == 0);
    CHECK((job ? setenv("LATERAL_JOB", job, 1) : unsetenv("LATERAL_JOB")) == 0);
    CHECK(env_load(&why) == 0);
    return find_launcher();
}

static void finds_by_name(void)
{
    pmi_open = pmi_there = pmix_there = true;
    CHECK(found("alone", "3:0:-1") == ALONE && found("oshrun", 0) == OURS && found("pmix", "3:0:-1") == PMIX);
    CHECK(found("pmi", "3:0:-1") == PMI && found("mpi", "3:0:-1") == UNKNOWN && found("pmixx", 0) == UNKNOWN);
    embedded = true;
    CHECK(found("alone", "3:0:-1") == EMBEDDED && found("mpi", 0) == EMBEDDED && found(0, 0) == EMBEDDED);
}

/* From the innermost to the outermost. */
static void finds_by_itself(void)
{
    static const char *const chosen[] = {0, "auto", ""};
    for (int i = 0; i < 3; i++) {
        pmi_open = pmi_there = pmix_there = true;
        CHECK(found(chosen[i], "3:0:-1") == OURS);
        take_place();
        CHECK(found(chosen[i], 0) == PMI); /* open, so this process's own */
        pmi_open = false;
        CHECK(found(chosen[i], 0) == ALONE);
        unsetenv("LATERAL_TAKEN");
        CHECK(found(chosen[i], 0) == PMIX);
        pmix_there = false;
        CHECK(found(chosen[i], 0) == PMI);
        pmi_there = false;
        CHECK(found(chosen[i], 0) == ALONE && found(chosen[i], "3:0:-1") == OURS);
    }
}

static void lonely(const char *tasks, const char *number)
{
    CHECK((tasks ? setenv("SLURM_STEP_NUM_TASKS", tasks, 1) : unsetenv("SLURM_STEP_NUM_TASKS")) == 0);
    CHECK((number ? setenv("SLURM_PROCID", number, 1) : unsetenv("SLURM_PROCID")) == 0);
    warn_lonely();
}

static void not_lonely(void)
{
    lonely(0, 0);
    lonely("3", 0);
    lonely(0, "0");
    lonely("3", "1");
    lonely("1", "0");
}

static void is_lonely(void)
{
    lonely("2", "0");
}

/* ---- the start ---- */

static int start_in(const char *chosen)
{
    const char *why = "";
    setenv("LATERAL_RTE", chosen, 1);
    CHECK(env_load(&why) == 0);
    return rte_init();
}

static void check_seat(void)
{
    CHECK(rte.node && rte.me == &rte.node->pe[1] && rte.me->pid == getpid() && rte.me->state == NODE_RUNNING);
    CHECK(rte.pe == 1 && rte.npes == 2 && rte.node_size == 2 && rte.node_first == 0 && log_pe() == 1 && rte_is_pe());
    CHECK(fcntl(rte.fd, F_GETFD) == FD_CLOEXEC && !getenv("LATERAL_JOB"));
}

static void starts(void)
{
    setenv("LATERAL_JOB", "3:0:-1", 1);
    CHECK(start_in("pmi") == 0);
    check_seat();
    rte.me->state = NODE_FINALISED;
    CHECK(rte_init() == 0 && rte.me->state == NODE_RUNNING); /* once more */
}

static void starts_embedded(void)
{
    embedded = true;
    CHECK(start_in("auto") == 0);
    check_seat();
}

static void starts_by_pmix(void)
{
    setenv("PMIX_RANK", "1", 1);
    CHECK(start_in("pmix") == 0);
    check_seat();
}

static void starts_alone(void)
{
    CHECK(start_in("alone") == 0);
    CHECK(rte.pe == 0 && rte.npes == 1 && rte.me == rte.node->pe && rte.me->state == NODE_RUNNING && rte_is_pe());
    CHECK(!rte.launched && fcntl(rte.fd, F_GETFD) == FD_CLOEXEC && rte.node->nodes == 1 && rte.node->cores == 1);
    CHECK(lseek(rte.fd, 0, SEEK_END) == (off_t)node_fixed_size(1));
}

static void is_refused(void)
{
    refuses = true;
    CHECK(start_in("pmix") == -1 && !rte_backend && !rte.node);
}

static void meets_nobody(void)
{
    strangers = true;
    start_in("pmi");
}

static void learns_nothing(void)
{
    learns = -1;
    start_in("pmi");
}

static void learns_nothing_alone(void)
{
    learns = -1;
    CHECK(start_in("alone") == -1);
}

static void knows_no_such_launcher(void)
{
    CHECK(start_in("mpi") == -1);
}

static void takes_a_seat_twice(void)
{
    CHECK(start_in("pmi") == 0);
    rte.me->state = NODE_FINALISED;
    CHECK(take_seat() == -1);
    rte.me->state = NODE_RUNNING;
    CHECK(take_seat() == -1);
}

static void all_start(void)
{
    CHECK(run(starts) == 0 && seen->opened == PMI && seen->met == 1 && seen->learnt == 1);
    CHECK(seen->watched == 1 && seen->noted == 1 && strcmp(seen->taken, "//////") == 0);
    CHECK(run(starts_embedded) == 0 && seen->opened == EMBEDDED && seen->watched == 1);
    CHECK(run(starts_by_pmix) == 0 && seen->opened == PMIX && strcmp(seen->taken, "//1////") == 0);
    CHECK(run(starts_alone) == 0 && !seen->opened && !seen->met && !seen->watched && seen->learnt == 1);
    CHECK(run(is_refused) == 0 && seen->opened == PMIX && !seen->met && !seen->aborted);
    CHECK(run(meets_nobody) == 40 + LAT_EXIT && seen->met == 1 && seen->aborted == 1 && !seen->learnt);
    CHECK(run(learns_nothing) == 40 + LAT_EXIT && seen->learnt == 1 && seen->aborted == 1);
    CHECK(run(learns_nothing_alone) == 0 && seen->learnt == 1 && !seen->aborted);
    CHECK(run(knows_no_such_launcher) == 0 && says("LATERAL_RTE=mpi is not one of auto, oshrun, pmix, pmi, alone"));
    CHECK(run(takes_a_seat_twice) == 0 && says("PE 1: this PE was already used by another process"));
}

int main(void)
{
    static const char *const left[] = {"LATERAL_TAKEN", "LATERAL_RTE", "LATERAL_JOB", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        unsetenv(left[i]);
    for (size_t i = 0; i < 6; i++)
        unsetenv(words[i]);
    seen = mmap(0, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    open_errors();
    CHECK(seen != MAP_FAILED);
    heads();
    CHECK(run(heads_of_parts) == 0);
    numbers();
    CHECK(run(names_of_places) == 0);
    CHECK(run(places_are_taken) == 0 && run(finds_by_name) == 0 && run(finds_by_itself) == 0);
    CHECK(run(not_lonely) == 0 && says(""));
    CHECK(run(is_lonely) == 0 && says("srun started 2 tasks that know nothing of each other"));
    all_start();
    return 0;
}
