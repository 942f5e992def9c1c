/* Where the PEs are and who waits for whom, of made-up records; and the look for jobs that are stuck, of real processes.
 *
 * An address stands for a place: 1000 to 1999 lie in the library's file, 2000 to 2999 in the program. */
#include "deadlock.h"
#include "halt.h"
#include "message.h"
#include "report.h"
#include "set.h"

#include "base/clock.h"
#include "base/kind.h"
#include "unit/check.h"

#include <ctype.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PES = 6, MANY = 21 };

/* --- What the report asks of the rest of the launcher */

static struct elf library = {.path = (char *)"/lib/liblateral.so.1"}, program = {.path = (char *)"/bin/liblate"};
static const struct {
    uint64_t address;
    const char *name;
} functions[] = {
    {1100, "shmem_barrier_all"},
    {1150, "pshmem_barrier_all"},
    {1200, "shmem_int_wait_until"},
    {1300, "lat_wait.cold"},
    {1400, "inner"},
    {2100, "main"},
    {2200, "compute"},
    {2300, "rte_wait"},
    {2400, "PMPI_Win_lock.part.0"},
    {2500, "uccs_flush"},
    {2600, "MPIX_Win_dup"},
    {2700, "shmemory"},
};

const char *elf_function(const struct elf *elf, uint64_t address, uint64_t *start)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i].address == address + 1 && elf == (address < 2000 ? &library : &program))
            return *start = functions[i].address, functions[i].name;
    return NULL;
}

struct code_place code_place_of(const struct maps *maps, uint64_t address)
{
    CHECK(maps->count == 1);
    return (struct code_place){address < 1000 || address > 2999 ? NULL : address < 2000 ? &library : &program, address};
}

static int maps_open;

void maps_read(struct maps *maps, pid_t pid)
{
    CHECK(pid == getpid());
    *maps = (struct maps){.count = 1, .map = malloc(1)};
    maps_open++;
}

void maps_free(struct maps *maps)
{
    maps_open -= maps->count > 0;
    free(maps->map);
}

bool place_variable(const struct maps *maps, uint64_t address, char *text, size_t room)
{
    CHECK(maps->count == 1);
    if (address >= 5000)
        snprintf(text, room, "global + %d bytes", (int)(address - 5000));
    return address >= 5000;
}

void place_line(struct code_place place, char *text, size_t room)
{
    snprintf(text, room, "%s:%d", place.elf ? "prog.c" : "nowhere", (int)place.address);
}

void halt_where(pid_t pid, char *text, size_t room)
{
    CHECK(pid == getpid());
    snprintf(text, room, "halted.c:9");
}

/* --- What the report writes. Tenths of seconds vary; waits are written as T and whole seconds, as wide as they are. */

static char written[4096];

static void keep_line(const char *line, size_t bytes)
{
    char copy[2048], *unit;
    CHECK(bytes < sizeof copy && line[bytes - 1] == '\n');
    memcpy(copy, line, bytes);
    copy[bytes] = 0;
    if ((unit = strstr(copy, " s  ")) && isdigit((unsigned char)unit[-1])) {
        unit[1] = unit[-3];
        memcpy(unit - 3, "   T", 4);
    }
    strcat(written, copy);
}

/* --- A node with PES processes; each is this one, unless it is said that it has ended. */

static struct node *node;
static struct node_stay *stays;
static pid_t pids[MANY];

static void make_node(uint32_t first)
{
    static const uint64_t nonce[2] = {1, 2};
    free(node);
    free(stays);
    CHECK(posix_memalign((void **)&node, CACHE_LINE, node_groups_at(MANY)) == 0 &&
          posix_memalign((void **)&stays, CACHE_LINE, sizeof *stays * MANY * NODE_STAYS) == 0);
    memset(node, 0, node_groups_at(MANY));
    memset(stays, 0, sizeof *stays * MANY * NODE_STAYS);
    node_format(node, PES, 2, nonce);
    node->first = first;
    for (int pe = 0; pe < MANY; pe++) {
        pids[pe] = getpid();
        node->pe[pe].state = NODE_RUNNING;
    }
}

/* A wait of a PE, so many seconds long, called along these places. */
static struct node_stay *stay_of(uint32_t pe, int number, int seconds, const uint64_t *frames)
{
    struct node_stay *stay = &stays[pe * NODE_STAYS + (uint32_t)number];
    *stay = (struct node_stay){.state = NODE_STAY_VALID, .thread = 1, .version = 2};
    stay->since = clock_nanoseconds() - (uint64_t)seconds * UINT64_C(1000000000) - 1;
    while (frames[stay->depth]) {
        stay->frames[stay->depth] = frames[stay->depth];
        stay->depth++;
    }
    return stay;
}

#define AT(...) ((const uint64_t[]){__VA_ARGS__, 0})

static struct node_awaited pes_from(int start, int stride, int size, uint64_t number)
{
    return (struct node_awaited){.about = NODE_ABOUT_PES,
                                 .start = start,
                                 .stride = stride,
                                 .size = size,
                                 .object = 7,
                                 .number = number};
}

static void wait_for_value(struct node_stay *stay, enum kind kind, const char *compare, uint64_t number, uint64_t now)
{
    stay->on = (struct node_awaited){.about = NODE_ABOUT_VARIABLE,
                                     .kind = (uint8_t)kind,
                                     .compare = {compare[0], compare[1]},
                                     .number = number};
    stay->value = now;
}

static void report(const char *wanted)
{
    const struct view view = {node, stays, pids};
    written[0] = 0;
    say_through(keep_line);
    report_print(&view);
    if (strcmp(written, wanted) != 0)
        fprintf(stderr, "wanted:\n%sis:\n%s", wanted, written);
    CHECK(strcmp(written, wanted) == 0);
    CHECK(maps_open == 0);
}

static void test_meeting(void)
{
    make_node(0);
    stay_of(0, 0, 3, AT(1400, 1100, 2100))->on = pes_from(0, 1, 4, 9);
    stay_of(1, 5, 9, AT(1150, 2100))->on = pes_from(0, 1, 4, 9);
    struct node_stay *flag = stay_of(2, 15, 5, AT(1400, 1200, 2200, 2100));
    wait_for_value(flag, KIND_I32, "==", 7, UINT64_MAX);
    strcpy(flag->text, "flag");
    pids[4] = 0;
    node->pe[5].state = NODE_FINALISED;
    report("  PE 0,1  shmem_barrier_all (2 of 4 have come)         T9  prog.c:2100\n"
           "  PE 2    shmem_int_wait_until(flag == 7, is -1)       T5  prog.c:2200\n"
           "  PE 3    is in no wait that lasts                         halted.c:9\n"
           "  PE 4    has ended                                        \n"
           "  PE 5    is behind shmem_finalize                         \n"
           "PEs 0,1 wait for PEs 2,3; PE 2 waits for a store\n");
    node->pe[3].state = NODE_FINALISED;
    report("  PE 0,1  shmem_barrier_all (2 of 4 have come)         T9  prog.c:2100\n"
           "  PE 2    shmem_int_wait_until(flag == 7, is -1)       T5  prog.c:2200\n"
           "  PE 3,5  is behind shmem_finalize                         \n"
           "  PE 4    has ended                                        \n"
           "PEs 0,1 wait for PEs 2,3; PE 2 waits for a store that no PE is making\n");
}

/* Two meetings of the same team, one after the other; another team; PEs that a PE of this node alone waits for. */
static void test_who(void)
{
    make_node(40);
    stay_of(0, 0, 1, AT(1100, 2100))->on = pes_from(40, 2, 3, 1);
    stay_of(2, 0, 1, AT(1100, 2100))->on = pes_from(40, 2, 3, 2);
    stay_of(1, 0, 1, AT(1100, 2100))->on = pes_from(3, 1, 1, 0);
    struct node_stay *lock = stay_of(3, 0, 1, AT(2500, 2100));
    lock->on = pes_from(45, 1, 1, 0);
    strcpy(lock->text, "a lock\n");
    stay_of(4, 0, 1, AT(2500, 2100))->on = pes_from(44, 1, 1, 0); /* for itself */
    node->pe[5].state = NODE_STARTED;
    report("  PE 40,42  shmem_barrier_all (1 of 3 have come)         T1  prog.c:2100\n"
           "  PE 41     shmem_barrier_all (waits for PE 3)           T1  prog.c:2100\n"
           "  PE 43     uccs_flush (a lock?; waits for PE 45)        T1  prog.c:2100\n"
           "  PE 44     uccs_flush (waits for PE 44)                 T1  prog.c:2100\n"
           "  PE 45     has not called shmem_init or uccs_init           halted.c:9\n"
           "PE 40 waits for PEs 42,44; PE 42 waits for PEs 40,44; PE 43 waits for PE 45; PE 44 waits for PE 44\n");
}

/* A team of PEs of three nodes: those of the others are not known here. */
static void test_over_nodes(void)
{
    make_node(40);
    for (uint32_t pe = 1; pe < PES; pe++)
        stay_of(pe, 0, 1, AT(1150, 2100))->on = pes_from(38, 1, 10, 8);
    report("  PE 41-45  shmem_barrier_all (5 of 6 here have come)       T1  prog.c:2100\n"
           "  PE 40     is in no wait that lasts                            halted.c:9\n"
           "PEs 41-45 wait for PE 40\n");
}

static void test_values(void)
{
    make_node(0);
    struct node_stay *stay = stay_of(0, 0, 1, AT(1300, 2100));
    wait_for_value(stay, KIND_U64, "> ", UINT64_MAX, UINT64_MAX - 1);
    stay->on.object = 4096;
    stay->heap = 4096;
    stay->heap_bytes = 16;
    wait_for_value(stay = stay_of(1, 0, 1, AT(1300, 2100)), KIND_I64, "<=", (uint64_t)-5000000000, 0);
    stay->on.object = 4111;
    stay->heap = 4096;
    stay->heap_bytes = 16;
    wait_for_value(stay = stay_of(2, 0, 1, AT(1300, 2100)), KIND_I16, ">=", (uint64_t)-5, (uint64_t)-6);
    stay->on.object = 4112;
    stay->heap = 4096;
    stay->heap_bytes = 16;
    wait_for_value(stay = stay_of(3, 0, 1, AT(1300, 2100)), KIND_U32, "!=", 1, 1);
    stay->on.object = 5008;
    pids[4] = pids[5] = 0;
    report("  PE 0    shmem_wait(heap + 0x0 > 18446744073709551615, is 18446744073709551614)       T1  prog.c:2100\n"
           "  PE 1    shmem_wait(heap + 0xf <= -5000000000, is 0)       T1  prog.c:2100\n"
           "  PE 2    shmem_wait(value >= -5, is -6)                    T1  prog.c:2100\n"
           "  PE 3    shmem_wait(global + 8 bytes != 1, is 1)           T1  prog.c:2100\n"
           "  PE 4,5  has ended                                             \n"
           "PEs 0-3 wait for a store that no PE is making\n");
}

/* A column is as wide as its longest text of fewer than 60 characters. */
static void test_columns(void)
{
#define X46 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    make_node(0);
    node->size = 3;
    strcpy(stay_of(0, 0, 1, AT(2500, 2100))->text, X46 "x");
    strcpy(stay_of(1, 0, 1, AT(2500, 2100))->text, X46);
    stay_of(2, 0, 1, AT(2500, 2100));
    report("  PE 0  uccs_flush (" X46 "x)       T1  prog.c:2100\n"
           "  PE 1  uccs_flush (" X46 ")       T1  prog.c:2100\n"
           "  PE 2  uccs_flush                                                        T1  prog.c:2100\n");
    strcat(stays[NODE_STAYS].text, "y");
    report("  PE 0  uccs_flush (" X46 "x)       T1  prog.c:2100\n"
           "  PE 1  uccs_flush (" X46 "y)       T1  prog.c:2100\n"
           "  PE 2  uccs_flush       T1  prog.c:2100\n");
    make_node(9990);
    node->size = MANY;
    for (int pe = 1; pe < MANY; pe += 2)
        pids[pe] = 0;
    report(
        "  PE 9990,9992,9994,9996,9998,10000,10002,10004,10006,10008,10010  is in no wait that lasts           halted.c:9\n"
        "  PE 9991,9993,9995,9997,9999,10001,10003,10005,10007,10009  has ended                          \n");
}

/* The outermost function of the library, in a file of its own or linked into the program. */
static void test_calls(void)
{
    make_node(0);
    stay_of(0, 0, 1, AT(2300, 2400, 2100));
    stay_of(1, 0, 1, AT(1400, 1100, 2200, 1100, 2100)); /* the second call is of another library's wait */
    stay_of(2, 0, 1, AT(1999, 2100));
    stay_of(3, 0, 1, AT(2600));
    strcpy(stay_of(4, 0, 1, AT(2500, 2200, 2100))->text, "messages");
    stay_of(5, 0, 1, AT(2700, 2100));
    report("  PE 0  MPI_Win_lock                T1  prog.c:2100\n"
           "  PE 1  shmem_barrier_all           T1  prog.c:2200\n"
           "  PE 2  a wait                      T1  nowhere:0\n"
           "  PE 3  MPIX_Win_dup                T1  nowhere:0\n"
           "  PE 4  uccs_flush (messages)       T1  prog.c:2200\n"
           "  PE 5  shmemory                    T1  prog.c:2100\n");
}

/* Records that are none: not valid yet, being written anew, from a newer library. */
static void test_no_records(void)
{
    make_node(0);
    stay_of(0, 0, 1, AT(2500, 2100))->state = NODE_STAY_CLAIMED;
    stay_of(1, 0, 1, AT(2500, 2100))->version = 3;
    stay_of(2, 0, 1, AT(2500, 2100))->depth = NODE_STAY_FRAMES + 1;
    stay_of(3, 0, 1, AT(2500, 2100));
    pids[3] = 0;
    stay_of(4, 0, 1, AT(2500, 2100))->depth = NODE_STAY_FRAMES;
    node->pe[5].state = NODE_FINALISED;
    report("  PE 4    uccs_flush                     T1  prog.c:2100\n"
           "  PE 0-2  is in no wait that lasts           halted.c:9\n"
           "  PE 3    has ended                          \n"
           "  PE 5    is behind shmem_finalize           \n");
}

/* --- Jobs that are stuck */

static void sleep_in_futex(int operation, const struct timespec *limit)
{
    static uint32_t word;
    for (;;)
        syscall(SYS_futex, &word, operation, 0, limit, 0, FUTEX_BITSET_MATCH_ANY);
}

static void *serve(void *name)
{
    prctl(PR_SET_NAME, name);
    for (;;)
        poll(0, 0, -1);
    return 0;
}

enum sleep { WAIT, PRIVATE_WAIT, BITSET, LOCK, LIMITED, WAKE, POLL, SERVED, SERVED_BY_OTHER };

static void sleep_so(enum sleep how)
{
    static const struct timespec hour = {3600, 0};
    pthread_t thread;
    if (how == WAIT)
        sleep_in_futex(FUTEX_WAIT, 0);
    if (how == PRIVATE_WAIT)
        sleep_in_futex(FUTEX_WAIT_PRIVATE, 0);
    if (how == BITSET)
        sleep_in_futex(FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0);
    if (how == LIMITED)
        sleep_in_futex(FUTEX_WAIT, &hour);
    if (how == SERVED || how == SERVED_BY_OTHER) {
        pthread_create(&thread, 0, serve, (void *)(how == SERVED ? "lateral-serve" : "lateral-server"));
        sleep_in_futex(FUTEX_WAIT, 0);
    }
    if (how == LOCK)
        syscall(SYS_futex, &(uint32_t){(uint32_t)getppid()}, FUTEX_LOCK_PI, 0, 0, 0, 0); /* the parent holds it */
    for (;;)
        poll(0, 0, -1);
}

/* Returns the number of threads of the process that sleep. */
static int asleep(pid_t pid)
{
    char path[64], text[512] = "";
    int threads = 0;
    for (pid_t thread = pid; thread < pid + 8; thread++) {
        snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)thread);
        FILE *file = fopen(path, "r");
        if (!file)
            continue;
        const char *end = fgets(text, sizeof text, file) ? strrchr(text, ')') : 0;
        threads += end && end[2] == 'S';
        fclose(file);
    }
    return threads;
}

static pid_t sleeper(enum sleep how)
{
    const pid_t child = fork();
    const int threads = how == SERVED || how == SERVED_BY_OTHER ? 2 : 1;
    CHECK(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sleep_so(how);
    }
    for (int quiet = 0; quiet < 3; usleep(2000)) /* on its way it may sleep a moment elsewhere */
        quiet = asleep(child) >= threads ? quiet + 1 : 0;
    return child;
}

static void end(pid_t child)
{
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, 0, 0) == child);
}

/* PE 0 waits for PEs; PE 1 is that process, without a record; the others have ended. */
static bool stuck_beside(enum sleep how)
{
    const pid_t waiter = sleeper(WAIT), other = sleeper(how);
    struct deadlock deadlock = {0};
    make_node(0);
    memset(pids, 0, sizeof pids);
    pids[0] = waiter;
    pids[1] = other;
    struct node_stay *stay = stay_of(0, 7, 1, AT(2500, 2100));
    const struct view now = {node, stays, pids};
    stay->thread = waiter;
    stay->on = pes_from(0, 1, 2, 1);
    CHECK(!(deadlock_look(&deadlock, &now) > 0));
    stay->looks++;
    const bool stuck = deadlock_look(&deadlock, &now) > 0;
    end(waiter);
    end(other);
    return stuck;
}

static void test_sleepers(void)
{
    CHECK(stuck_beside(WAIT) && stuck_beside(PRIVATE_WAIT));
    CHECK(stuck_beside(BITSET));
    CHECK(stuck_beside(LOCK));
    CHECK(stuck_beside(SERVED));
    CHECK(!stuck_beside(LIMITED));
    CHECK(!stuck_beside(POLL));
    CHECK(!stuck_beside(SERVED_BY_OTHER));
}

/* What ends the suspicion: anything that moves. */
static void test_moves(void)
{
    const pid_t waiter = sleeper(POLL);
    make_node(0);
    memset(pids, 0, sizeof pids);
    pids[0] = waiter;
    struct node_stay *stay = stay_of(0, 0, 1, AT(2500, 2100));
    const struct view view = {node, stays, pids};
    struct deadlock deadlock = {0};
    stay->thread = waiter;
    stay->on = pes_from(0, 1, 2, 1);
#define LOOK() (stay->looks++, deadlock_look(&deadlock, &view) > 0)
    CHECK(!LOOK() && LOOK() && LOOK() && !(deadlock_look(&deadlock, &view) < 0));
    stay->value++;
    CHECK(!LOOK() && LOOK());
    stay->since++;
    CHECK(!LOOK() && LOOK());
    stay->on.may_end = 1;
    CHECK(!LOOK() && !LOOK());
    stay->on.may_end = 0;
    CHECK(!LOOK() && LOOK());
    stay->state = NODE_STAY_CLAIMED;
    CHECK(!LOOK() && !LOOK());
    stay->state = NODE_STAY_VALID;
    node->pe[0].state = NODE_STARTED;
    CHECK(!LOOK() && !LOOK());
    node->pe[0].state = NODE_FINALISED; /* no wait is left */
    CHECK(!LOOK() && !LOOK());
    node->pe[0].state = NODE_RUNNING;
    CHECK(!LOOK() && LOOK());
    node->pe[1].state = NODE_FINALISED; /* what it does concerns nobody */
    pids[1] = getpid();
    CHECK(LOOK());
    node->pe[1].state = NODE_RUNNING; /* this process runs */
    CHECK(!LOOK() && !LOOK());
    pids[1] = 0;
    CHECK(!LOOK() && LOOK());
    const double before = deadlock_look(&deadlock, &view);
    usleep(20000);
    stay->looks++;
    CHECK(deadlock_look(&deadlock, &view) >= before + 0.02); /* in seconds */
    CHECK(deadlock_look(&deadlock, &view) < 600);
    deadlock.since -= UINT64_C(20000000000);
    CHECK(deadlock_look(&deadlock, &view) > 20);
    deadlock = (struct deadlock){0};
    for (int i = 0; i < 2; i++)
        CHECK(!(deadlock_look(&deadlock, &view) > 0)); /* the waiter has not looked since: it may be stopped */
    CHECK(LOOK());
    end(waiter);
}

int main(void)
{
    usleep(clock_nanoseconds() < UINT64_C(10000000000) ? 10000000 : 0); /* no wait is older than the machine */
    test_meeting();
    test_who();
    test_over_nodes();
    test_values();
    test_columns();
    test_calls();
    test_no_records();
    test_sleepers();
    test_moves();
    return 0;
}
