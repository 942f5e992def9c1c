/* What is read of the PEs' waits, at the edges of the records: which belong to a PE, what is torn, what a name is; and
 * when a job is stuck. The clock, /proc and the files of programs are made up, and each that is opened is closed.
 * flags: -D_GNU_SOURCE */
#include "apart.h"
#include "deadlock.h"
#include "message.h"
#include "stays.h"

#include "base/clock.h"
#include "base/kind.h"

#include <dirent.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

/* ---- clock and memory ---- */

static uint64_t clock_now = (UINT64_C(7) << 32) + 5;

static uint64_t now_is(void)
{
    return clock_now;
}

static size_t waiters_there; /* that this memory has to hold */

static void *more_room(void *old, size_t bytes)
{
    CHECK(bytes == ++waiters_there * sizeof(struct waiter));
    return realloc(old, bytes);
}

/* ---- /proc ---- */

static const char *comm, *call; /* of thread 11 of process 10; thread 10 has a record */
static const char *const *tasks;
static int opened;

static FILE *open_proc(const char *path, const char *mode)
{
    CHECK(strcmp(mode, "re") == 0);
    const char *text = strcmp(path, "/proc/10/task/11/comm") == 0      ? comm
                       : strcmp(path, "/proc/10/task/11/syscall") == 0 ? call
                                                                       : NULL;
    opened += text != NULL;
    return text ? fmemopen((void *)(uintptr_t)text, strlen(text), "r") : NULL;
}

static int close_proc(FILE *file)
{
    opened--;
    return fclose(file);
}

static DIR *open_tasks(const char *path)
{
    static const char *const all[] = {".", "..", "10", "11", NULL};
    if (strcmp(path, "/proc/10/task") != 0)
        return NULL;
    tasks = all;
    opened++;
    return (DIR *)&tasks;
}

static struct dirent *next_task(DIR *folder)
{
    static struct dirent entry;
    CHECK(folder == (DIR *)&tasks);
    if (!*tasks)
        return NULL;
    snprintf(entry.d_name, sizeof entry.d_name, "%s", *tasks++);
    return &entry;
}

static int close_tasks(DIR *folder)
{
    CHECK(folder == (DIR *)&tasks);
    opened--;
    return 0;
}

#define clock_nanoseconds now_is
#define closedir close_tasks
#define fclose close_proc
#define fopen open_proc
#define opendir open_tasks
#define readdir next_task
#define realloc more_room
#include "deadlock.c"
#include "stays.c"
#undef fclose
#undef fopen
#undef realloc

/* ---- files of programs ---- */

static struct elf library = {.path = (char *)"/lib/liblateral.so.1"}, program = {.path = (char *)"/bin/p"};
static int maps_held;

void maps_read(struct maps *maps, pid_t pid)
{
    maps_held++;
    *maps = (struct maps){.count = 1, .shift = (uint64_t)pid};
}

void maps_free(struct maps *maps)
{
    maps_held -= maps->count != 0;
}

struct code_place code_place_of(const struct maps *maps, uint64_t address)
{
    CHECK(maps->count == 1);
    return (struct code_place){address < 2000 ? &library : &program, address};
}

/* The library's functions end at full hundreds, so a return address at one is behind the call. */
const char *elf_function(const struct elf *elf, uint64_t address, uint64_t *start)
{
    *start = 0;
    return elf == &library   ? address == 1099   ? "shmem_inner"
                               : address == 1199 ? "shmem_outer"
                                                 : NULL
           : address == 2599 ? "uccs_flush"
                             : "main";
}

bool place_variable(const struct maps *maps, uint64_t address, char *text, size_t room)
{
    (void)maps;
    if (address == 5000)
        snprintf(text, room, "x\033[1m");
    return address == 5000;
}

/* ---- a node ---- */

enum { PES = 2, MANY = 4 };
static struct node *node;
static struct node_stay *stays;
static pid_t pids[MANY];
static struct view view;

/* Two PEs, and two behind them that are no part of the node; a process has number 10 or is gone. */
static void make_node(void)
{
    static const uint64_t nonce[2] = {1, 2};
    CHECK(posix_memalign((void **)&node, CACHE_LINE, node_groups_at(MANY)) == 0 &&
          posix_memalign((void **)&stays, CACHE_LINE, sizeof *stays * MANY * NODE_STAYS) == 0);
    memset(node, 0, node_groups_at(MANY));
    memset(stays, 0, sizeof *stays * MANY * NODE_STAYS);
    node_format(node, PES, PES, nonce);
    pids[0] = pids[2] = 10;
    node->pe[0].state = node->pe[2].state = NODE_RUNNING;
    view = (struct view){node, stays, pids};
}

static struct node_stay *stay_of(uint32_t pe, int number, int thread)
{
    struct node_stay *stay = &stays[pe * NODE_STAYS + (uint32_t)number];
    *stay = (struct node_stay){.state = NODE_STAY_VALID, .thread = thread, .since = clock_now - 3000000000};
    stay->depth = 1;
    stay->frames[0] = 1100;
    return stay;
}

static struct waiters waiters;

/* Reads all waits and returns the first. */
static const struct waiter *read_waits(size_t count)
{
    static const struct waiter none;
    waiters_free(&waiters);
    waiters_there = 0;
    waiters_read(&waiters, &view);
    CHECK(waiters.count == count && maps_held == 0);
    return count ? waiters.waiter : &none;
}

static void records(void)
{
    make_node();
    stay_of(2, 0, 5); /* none of this node's */
    read_waits(0);
    stay_of(1, 0, 5); /* its process is gone */
    read_waits(0);
    stay_of(0, 0, 1);
    stay_of(0, NODE_STAYS - 1, 2);
    CHECK(read_waits(2)->thread == 1 && waiters.waiter[1].thread == 2 && waiters.waiter[1].index == 0);
    CHECK(waiters.waiter[0].seconds > 2.99 && waiters.waiter[0].seconds < 3.01);
    struct node_stay *stay = stay_of(0, 0, 1);
    stay->version = (3 << 16) + 4; /* long waits */
    CHECK(read_waits(2)->thread == 1);
    stay->version++; /* it is being written */
    CHECK(read_waits(1)->thread == 2);
    stay->version++;
    stay->depth = NODE_STAY_FRAMES;
    CHECK(read_waits(2)->thread == 1);
    stay->depth++;
    CHECK(read_waits(1)->thread == 2);
    stay->depth = 1;
    stay->state = NODE_STAY_CLAIMED;
    CHECK(read_waits(1)->thread == 2);
    waiters_free(&waiters);
    CHECK(!waiters.waiter && waiters.count == 0);
}

static void calls(uint32_t depth, const uint64_t *frames, const char *name, uint64_t from)
{
    struct node_stay *stay = stay_of(0, 0, 1);
    stay->depth = depth;
    memcpy(stay->frames, frames, 4 * sizeof *frames);
    const struct waiter *waiter = read_waits(1);
    CHECK(strcmp(waiter->call, name) == 0);
    CHECK(waiter->from.address == from && !waiter->from.elf == !from);
}

static void frames(void)
{
    make_node();
    calls(0, (const uint64_t[]){1100, 1200, 2100, 2200}, "a wait", 0);
    calls(1, (const uint64_t[]){1100, 1200, 2100, 2200}, "shmem_inner", 0); /* what lies behind the depth is none */
    calls(2, (const uint64_t[]){1100, 1200, 2100, 2200}, "shmem_outer", 0);
    calls(3, (const uint64_t[]){1100, 1200, 2100, 2200}, "shmem_outer", 2100);
    calls(4, (const uint64_t[]){1100, 2100, 1200, 2200}, "shmem_inner", 2100);
    calls(2, (const uint64_t[]){2600, 2100, 2600, 2200}, "uccs_flush", 2100); /* linked into the program */
    calls(1, (const uint64_t[]){2100, 2600, 2600, 2200}, "a wait", 0);
}

static void objects(void)
{
    char text[NODE_STAY_TEXT];
    make_node();
    struct node_stay *stay = stay_of(0, 0, 1);
    memset(text, 'x', sizeof text);
    memcpy(stay->text, text, sizeof text); /* without an end */
    stay->on.about = NODE_ABOUT_PES;
    text[sizeof text - 1] = 0;
    CHECK(strcmp(read_waits(1)->object, text) == 0 && waiters.waiter->on.about == NODE_ABOUT_PES);
    strcpy(stay->text, "a\033[1mb\n\177\303");
    CHECK(strcmp(read_waits(1)->object, "a?[1mb???") == 0);
    *stay->text = 0;
    CHECK(strcmp(read_waits(1)->object, "") == 0);
    stay->on = (struct node_awaited){NODE_ABOUT_VARIABLE, KIND_I64, {'>', ' '}, 0, 0, 0, 0, 5000, (uint64_t)-3};
    stay->value = (UINT64_C(1) << 40) + 1;
    CHECK(strcmp(read_waits(1)->object, "x?[1m > -3, is 1099511627777") == 0);
    stay->heap = 4000;
    stay->heap_bytes = 1001;
    CHECK(strcmp(read_waits(1)->object, "heap + 0x3e8 > -3, is 1099511627777") == 0);
    stay->heap_bytes = 1000;
    stay->on.object = 4999;
    stay->on.kind = KIND_U64;
    memcpy(stay->on.compare, ">=", 2);
    CHECK(strcmp(read_waits(1)->object, "heap + 0x3e7 >= 18446744073709551613, is 1099511627777") == 0);
    stay->heap = 5000;
    CHECK(strcmp(read_waits(1)->object, "value >= 18446744073709551613, is 1099511627777") == 0);
}

/* ---- stuck ---- */

static struct deadlock deadlock;

/* Whether PE 0 is stuck, of which one thread waits for PEs and the other does this. */
static bool stuck(const char *thread, const char *in)
{
    comm = thread;
    call = in;
    deadlock = (struct deadlock){0};
    CHECK(!(deadlock_look(&deadlock, &view) > 0));
    stays[0].looks++;
    clock_now += 1000000000;
    const double seconds = deadlock_look(&deadlock, &view);
    CHECK(opened == 0 && (!(seconds > 0) || (seconds > 0.99 && seconds < 1.01)));
    CHECK(!(seconds > 0) || deadlock.since == clock_now - 1000000000);
    return seconds > 0;
}

static void others(void)
{
    char wait[80], beyond[80];
    make_node();
    stay_of(0, 0, 10);
    snprintf(wait, sizeof wait, "%d 0x1 0x80 0x0 0x0 0x0\n", SYS_futex);
    snprintf(beyond, sizeof beyond, "%llu 0x1 0x80 0x0 0x0\n", (1ULL << 32) + SYS_futex); /* of no system */
    CHECK(stuck("p\n", wait) && stuck(NULL, wait));
    CHECK(!stuck("p\n", beyond) && !stuck("p\n", "running\n") && !stuck("p\n", NULL));
    CHECK(stuck("lateral-serve\n", "running\n") && stuck("lateral-serve\n", NULL));
    CHECK(!stuck("lateral-server\n", "running\n") && !stuck("", NULL));
    call = wait;
    stay_of(1, 0, 11)->on.may_end = 1; /* of the next PE's threads */
    CHECK(stuck("p\n", wait) && !stuck("p\n", "running\n"));
    stay_of(1, 0, 11);
    CHECK(!stuck("p\n", "running\n"));
    stay_of(0, NODE_STAYS - 1, 11); /* its own last record */
    CHECK(stuck("p\n", "running\n"));
}

static void states(void)
{
    char wait[80];
    make_node();
    stay_of(0, 0, 10);
    snprintf(wait, sizeof wait, "%d 0x1 0x80 0x0 0x0 0x0\n", SYS_futex);
    pids[2] = 20; /* no part of the node; nothing is known of it */
    CHECK(stuck("p\n", wait));
    node->pe[0].state = NODE_RUNNING + (1 << 16);
    CHECK(!stuck("p\n", wait));
    node->pe[0].state = NODE_RUNNING;
    pids[0] = 20;
    CHECK(!stuck("p\n", wait));
    pids[0] = 10;
    pids[1] = 20; /* has started, and may do anything */
    CHECK(!stuck("p\n", wait));
    node->pe[1].state = NODE_FINALISED;
    CHECK(stuck("p\n", wait));
}

int main(void)
{
    static void (*const tests[])(void) = {records, frames, objects, others, states};
    run_apart(tests, sizeof tests / sizeof *tests);
    return 0;
}
