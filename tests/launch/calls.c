/* What the launcher asks of the kernel about processes and descriptors, call by call: it kills those that are left,
 * halts one, and waits for descriptors. All answers are made up.
 * flags: -D_GNU_SOURCE
 * skip: aarch64 */
#include "apart.h"
#include "halt.h"
#include "loop.h"
#include "noted.h"
#include "place.h"
#include "sweep.h"

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <time.h>

#define NT_PRSTATUS 1 /* the folder of the launcher has an elf.h of its own */

static uint64_t clock_now = UINT64_C(1) << 53;

static uint64_t now_is(void)
{
    return clock_now;
}

static void fill_stack(void)
{
    volatile unsigned char block[8192];
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = 255;
}

/* ---- descriptors ---- */

static struct epoll_event news[3];
static int number_of_loop, count_of_news;

static int make_loop(int flags)
{
    CHECK(flags == EPOLL_CLOEXEC);
    return number_of_loop;
}

static int control(int loop, int what, int fd, struct epoll_event *event)
{
    note("%s %d in %d", what == EPOLL_CTL_ADD ? "add" : what == EPOLL_CTL_DEL ? "remove" : "?", fd, loop);
    if (event)
        note(" %u %d", event->events, *(const int *)event->data.ptr);
    note("\n");
    return event ? fd : 0;
}

static int wait_for_news(int loop, struct epoll_event *events, int room, int ms)
{
    note("wait %d %d\n", loop, ms);
    CHECK(room == 64);
    memcpy(events, news, sizeof news);
    return count_of_news;
}

#define clock_nanoseconds now_is
#define epoll_create1 make_loop
#define epoll_ctl control
#define epoll_wait wait_for_news
#include "loop.c"

struct numbered {
    struct loop_watch watch;
    int number;
};

static void ready(struct loop_watch *watch)
{
    note("ready %d\n", ((struct numbered *)watch)->number);
}

static void waiting(void)
{
    struct numbered watches[] = {{{ready}, 1}, {{ready}, 2}, {{ready}, 3}};
    int number = 77;
    number_of_loop = -1;
    CHECK(loop_open() == -1);
    number_of_loop = 0;
    CHECK(loop_open() == 0);
    number_of_loop = 9;
    CHECK(loop_open() == 0);
    CHECK(loop_add(4, EPOLLOUT, (struct loop_watch *)&number) == 4);
    happens("add 4 in 9 4 77\n");
    loop_remove(4);
    happens("remove 4 in 9\n");
    for (int i = 0; i < 3; i++)
        news[i].data.ptr = &watches[i];
    loop_turn(5);
    happens("wait 9 5\n");
    count_of_news = -1;
    loop_turn(-1);
    happens("wait 9 -1\n");
    count_of_news = 2;
    loop_turn(0);
    happens("wait 9 0\nready 1\nready 2\n");
    clock_now = (UINT64_C(1) << 53) + 999999;
    CHECK(loop_now() == (INT64_C(1) << 53) / 1000000 + 1);
    clock_now = 999999;
    CHECK(loop_now() == 0);
}

/* ---- processes that are left ---- */

static jmp_buf left;
static int children[3]; /* of this process */
static int forked, looks, deaths[8], ndeaths, folders, closes;
static const char *own, *entries[8];
static siginfo_t states[4];
static int nstates, next_state, halts;

/* Tells who is a child; or the next state of the one process that is to halt, and whether it has. */
static int state_of(idtype_t which, id_t pid, siginfo_t *info, int how)
{
    CHECK(which == P_PID);
    if (how == (WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL)) {
        CHECK(pid == 50);
        looks++;
        *info = states[next_state];
        next_state += next_state + 1 < nstates;
        return info->si_errno;
    }
    if (how == (WSTOPPED | WNOHANG | __WALL)) {
        note("reap\n");
        return halts;
    }
    CHECK(how == (WEXITED | WNOHANG | WNOWAIT));
    for (int i = 0; i < 3; i++)
        if (pid > 0 && (int)pid == children[i])
            return 0;
    return -1;
}

static int end(pid_t pid, int signal)
{
    note("kill %d %d\n", (int)pid, signal);
    return pid == 13 ? -1 : 0; /* it cannot be */
}

static _Noreturn void leave(int status)
{
    note("leave %d\n", status);
    longjmp(left, 1);
}

static ssize_t own_number(const char *path, char *text, size_t bytes)
{
    CHECK(strcmp(path, "/proc/self") == 0 && bytes == 15); /* and a zero behind it */
    const size_t length = own ? strlen(own) : 0;
    if (own)
        memcpy(text, own, length);
    return own ? (ssize_t)length : -1;
}

static DIR *open_proc(const char *path)
{
    CHECK(strcmp(path, "/proc") == 0);
    folders++;
    return *entries ? (DIR *)entries : NULL;
}

static struct dirent *next_entry(DIR *proc)
{
    static struct dirent entry;
    static int at;
    CHECK(proc == (DIR *)entries);
    if (!entries[at])
        return at = 0, NULL;
    snprintf(entry.d_name, sizeof entry.d_name, "%s", entries[at++]);
    return &entry;
}

static int close_proc(DIR *proc)
{
    CHECK(proc == (DIR *)entries);
    closes++;
    return 0;
}

static pid_t reap_one(pid_t pid, int *status, int how)
{
    CHECK(pid == -1 && !status && how == WNOHANG);
    return deaths[ndeaths++];
}

static int wait_for_death(const sigset_t *set, siginfo_t *info, const struct timespec *limit)
{
    CHECK(!info);
    for (int number = 1; number < 32; number++)
        CHECK(sigismember(set, number) == (number == SIGCHLD));
    note("wait %d s %d ns\n", (int)limit->tv_sec, (int)limit->tv_nsec);
    clock_now += 100000000;
    return -1;
}

#define _exit leave
#define closedir close_proc
#define getpid() 40
#define kill end
#define opendir open_proc
#define readdir next_entry
#define readlink own_number
#define sigtimedwait wait_for_death
#define vfork() forked
#define waitid state_of
#define waitpid reap_one
#include "sweep.c"
#undef _exit
#undef kill
#undef waitpid

static void sweep_begins(void)
{
    static const char *const all[] = {".", "..", "7", "8", "acpi", "9", "13", NULL};
    memcpy(entries, all, sizeof all);
    memcpy(children, (const int[]){7, 13, 9}, sizeof children);
    own = "40";
    forked = 20;
    ndeaths = folders = closes = 0;
    memset(deaths, 0, sizeof deaths);
}

static void one_child(void)
{
    sweep_begins();
    CHECK(kill_child(7));
    happens("kill 7 9\n");
    CHECK(!kill_child(13));
    happens("kill 13 9\n");
    CHECK(!kill_child(8) && !kill_child(0) && !kill_child(-7));
    happens("");
    CHECK(!kill_numbers(5, 7) && !kill_numbers(10, 13) && kill_numbers(7, 8) && kill_numbers(9, 14));
    happens("kill 7 9\nkill 9 9\nkill 13 9\n");
    CHECK(newest() == 20);
    forked = -1;
    CHECK(newest() == (4 << 20) + 1);
    forked = 0;
    if (setjmp(left) == 0)
        newest();
    happens("leave 0\n");
}

static void all_children(void)
{
    sweep_begins();
    kill_children();
    happens("kill 7 9\nkill 9 9\nkill 13 9\n");
    CHECK(folders == 1 && closes == 1);
    own = "4"; /* of another numbering */
    kill_children();
    own = NULL;
    kill_children();
    own = "40";
    *entries = NULL;
    kill_children();
    happens("kill 7 9\nkill 9 9\nkill 13 9\nkill 7 9\nkill 9 9\nkill 13 9\nkill 7 9\nkill 9 9\nkill 13 9\n");
    CHECK(folders == 2 && closes == 1);
    forked = 9; /* newer ones than this are looked for only when there are no others */
    kill_children();
    happens("kill 7 9\n");
    forked = 7;
    kill_children();
    happens("kill 7 9\nkill 9 9\nkill 13 9\n");
    memcpy(children, (const int[]){4 << 20, (4 << 20) + 1, 20}, sizeof children);
    forked = 20;
    kill_children(); /* the highest number of all */
    happens("kill 20 9\nkill 4194304 9\n");
}

static void whole_sweep(void)
{
    void (*volatile await)(int) = await_death; /* with a stack of its own, which is full */
    sweep_begins();
    memcpy(deaths, (const int[]){5, 6, 0, 0, 7, -1}, sizeof(int[6]));
    sweep_descendants(2000);
    happens("kill 7 9\nkill 9 9\nkill 13 9\nwait 0 s 100000000 ns\nkill 7 9\nkill 9 9\nkill 13 9\n"
            "wait 0 s 100000000 ns\n");
    CHECK(ndeaths == 6);
    sweep_begins();
    sweep_descendants(200); /* until the time is over */
    happens("kill 7 9\nkill 9 9\nkill 13 9\nwait 0 s 100000000 ns\nkill 7 9\nkill 9 9\nkill 13 9\n"
            "wait 0 s 100000000 ns\n");
    sweep_descendants(0);
    happens("");
    deaths[ndeaths] = -1;
    sweep_descendants(2000);
    happens("");
    fill_stack();
    await(2345);
    happens("wait 2 s 345000000 ns\n");
}

#include "calls_halt.h"

int main(void)
{
    static void (*const tests[])(void) = {waiting, one_child, all_children, whole_sweep, awaiting, halting};
    run_apart(tests, sizeof tests / sizeof *tests);
    return 0;
}
