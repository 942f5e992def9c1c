/* How oshrun hands its input to the PEs, call by call: copies through pipes, a file that is opened once more, one PE
 * alone. Descriptors and the loop are stand-ins that write down what they are asked.
 * flags: -D_GNU_SOURCE */
#include "apart.h"
#include "input.h"
#include "loop.h"
#include "message.h"
#include "noted.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/stat.h>

enum { PES = 3, NULL_FD = 30 };

static void keep_line(const char *line, size_t bytes)
{
    note("%.*s", (int)bytes, line);
}

static int add_fails; /* the errno of adding to the loop; 0: it does not fail */

int loop_add(int fd, uint32_t events, struct loop_watch *watch)
{
    CHECK(watch->ready && events == (fd == 0 ? EPOLLIN : EPOLLOUT));
    note("add %d\n", fd);
    errno = add_fails;
    return add_fails ? -1 : 0;
}

void loop_remove(int fd)
{
    note("remove %d\n", fd);
}

static bool regular;
static int opened[2] = {NULL_FD, 31}, opens, next_end, there = 1, comes;

static int state_of(int fd, struct stat *info)
{
    CHECK(fd == 0);
    info->st_mode = regular ? S_IFREG : S_IFIFO;
    return 0;
}

static int open_file(const char *path, int flags)
{
    CHECK(flags == (O_RDONLY | O_CLOEXEC));
    note("open %s\n", path);
    errno = ENFILE;
    return opened[opens++];
}

static off_t seek(int fd, off_t to, int from)
{
    note("seek %d %d\n", fd, from == SEEK_SET ? (int)to : -1);
    return fd == 0 ? 7 : to;
}

static int make_pipe(int ends[2], int flags)
{
    CHECK(flags == O_CLOEXEC);
    if (next_end < 0)
        return -1;
    ends[0] = next_end;
    ends[1] = next_end + 10;
    next_end++;
    return 0;
}

static int set_flags(int fd, int what, int flags)
{
    CHECK(what == F_SETFL && flags == O_NONBLOCK);
    note("nonblock %d\n", fd);
    return 0;
}

static int shut(int fd)
{
    note("close %d\n", fd);
    return 0;
}

static int look(struct pollfd *one, int count, int ms)
{
    CHECK(one->fd == 0 && one->events == POLLIN && count == 1 && ms == 0);
    return there;
}

/* Reading brings so many bytes, or below 0 an errno. */
static ssize_t bring(int fd, char *data, size_t bytes)
{
    CHECK(fd == 0 && bytes == 64 << 10);
    note("read\n");
    for (int i = 0; i < comes; i++)
        data[i] = (char)('a' + i);
    errno = comes < 0 ? -comes : EAGAIN;
    return comes < 0 ? -1 : comes;
}

static int takes[8], ntakes; /* what each write takes; 0: all; below 0: an errno */

static ssize_t take(int fd, const char *data, size_t bytes)
{
    const int how = takes[ntakes++];
    note("write %d %.*s\n", fd, (int)bytes, data);
    errno = how < 0 ? -how : 0;
    return how < 0 ? -1 : how ? how : (ssize_t)bytes;
}

/* Memory with room behind its end, which is 0. */
static void *zeroed(size_t count, size_t bytes)
{
    return calloc(count + 1, bytes);
}

#define calloc zeroed
#define close shut
#define fcntl set_flags
#define fstat state_of
#define lseek seek
#define open open_file
#define pipe2 make_pipe
#define poll look
#define read bring
#define write take
#include "input.c"
#undef calloc
#undef close
#undef fcntl

/* ---- opening ---- */

static struct options how = {.pes = PES, .input = OPTIONS_INPUT_ALL};

static void opens_null(int fd, bool good, const char *wanted)
{
    opened[0] = fd;
    opens = 0;
    CHECK(input_open(&how) == good);
    happens(wanted);
}

static void opening(void)
{
    for (how.input = OPTIONS_INPUT_NONE; how.input <= 1; how.input++) {
        opens_null(0, true, "open /dev/null\n"); /* any number is good */
        opens_null(NULL_FD, true, "open /dev/null\n");
        opens_null(-1, false, "open /dev/null\noshrun: /dev/null: Too many open files in system\n");
    }
    how.input = OPTIONS_INPUT_ALL;
    opens_null(NULL_FD, true, "open /dev/null\n");
    CHECK(input_files_per_pe() == 1);
    for (int pe = 0; pe < PES; pe++)
        CHECK(copies[pe].fd == -1);
    CHECK(copies[PES].fd == 0);
}

static void one_alone(void)
{
    how.input = 1;
    opens_null(NULL_FD, true, "open /dev/null\n");
    CHECK(input_files_per_pe() == 0);
    CHECK(input_connect(0) == NULL_FD && input_connect(1) == 0 && input_connect(2) == NULL_FD);
    for (int fd = 0; fd < 3; fd++)
        input_connected(fd);
    input_connected(NULL_FD);
    input_connected(-1);
    happens("");
    input_connected(3);
    happens("close 3\n");
}

static void files(void)
{
    regular = true;
    opens_null(NULL_FD, true, "open /dev/null\n");
    CHECK(input_files_per_pe() == 0 && input_connect(0) == 31);
    happens("open /proc/self/fd/0\nseek 0 -1\nseek 31 7\n");
    opened[1] = opens = 0;
    opens++;
    CHECK(input_connect(0) == 0);
    happens("open /proc/self/fd/0\nseek 0 -1\nseek 0 7\n");
    opened[1] = -1;
    opens = 1;
    CHECK(input_connect(1) == -1);
    happens("open /proc/self/fd/0\n");
    how.input = 0; /* nobody else reads it */
    opens_null(NULL_FD, true, "open /dev/null\n");
    CHECK(input_connect(0) == 0);
}

/* ---- copies ---- */

/* PE p reads from 40 + p, and 50 + p is the other end. */
static void begin(void)
{
    opens_null(NULL_FD, true, "open /dev/null\n");
    next_end = 40;
    for (uint32_t pe = 0; pe < PES; pe++)
        CHECK(input_connect(pe) == 40 + (int)pe);
    happens("nonblock 50\nnonblock 51\nnonblock 52\n");
    input_connected(40);
    input_connected(41);
    happens("close 40\nclose 41\n");
}

static void source_is_ready(int bytes, const char *wanted)
{
    comes = bytes;
    ntakes = 0;
    source_ready(&source);
    happens(wanted);
    memset(takes, 0, sizeof takes);
}

static void connecting(void)
{
    begin();
    input_connected(42);
    happens("close 42\nadd 0\n");
    next_end = -1;
    CHECK(input_connect(0) == -1);
}

static void no_end(void)
{
    begin();
    add_fails = EPERM; /* a device */
    input_connected(42);
    happens("close 42\nadd 0\nclose 50\nclose 51\nclose 52\n");
    for (int pe = 0; pe < PES; pe++)
        CHECK(copies[pe].fd == -1);
}

static void copying(void)
{
    begin();
    source_is_ready(2, "read\nremove 0\nwrite 50 ab\nwrite 51 ab\nwrite 52 ab\nadd 0\n");
    takes[0] = 1;
    takes[2] = -EINTR;
    source_is_ready(3, "read\nremove 0\nwrite 50 abc\nwrite 50 bc\nwrite 51 abc\nwrite 51 abc\nwrite 52 abc\nadd 0\n");
    takes[1] = -EPIPE;
    source_is_ready(1, "read\nremove 0\nwrite 50 a\nwrite 51 a\nclose 51\nwrite 52 a\nadd 0\n");
    CHECK(copies[1].fd == -1 && !copies[1].waiting);
    source_is_ready(-EAGAIN, "read\n");
    source_is_ready(-EINTR, "read\n");
    there = 0;
    source_is_ready(1, "");
    there = -1;
    source_is_ready(1, "");
    there = 1;
    source_is_ready(0, "read\nremove 0\nclose 50\nclose 52\n");
    CHECK(ended);
    source_is_ready(1, "");
    copy_ready(&copies[0].watch);
    happens("");
}

static void failing(void)
{
    begin();
    source_is_ready(-EIO, "read\nremove 0\nclose 50\nclose 51\nclose 52\n");
    CHECK(ended);
}

/* The first and the last PE have no room. */
static void waiting_for_room(void)
{
    begin();
    takes[0] = takes[2] = -EAGAIN;
    source_is_ready(2, "read\nremove 0\nwrite 50 ab\nadd 50\nwrite 51 ab\nwrite 52 ab\nadd 52\n");
    CHECK(copies[0].waiting && !copies[1].waiting && copies[2].waiting && !all_have_it());
    source_is_ready(2, ""); /* not before all have the last chunk */
    ntakes = 0;
    takes[0] = 1;
    takes[1] = -EAGAIN;
    copy_ready(&copies[2].watch);
    happens("write 52 ab\nwrite 52 b\n");
    ntakes = 0;
    takes[0] = takes[1] = 0;
    copy_ready(&copies[2].watch);
    happens("write 52 b\nremove 52\n");
    CHECK(!copies[2].waiting && !all_have_it()); /* the first has not */
    takes[1] = -EPIPE;
    copy_ready(&copies[0].watch);
    happens("write 50 ab\nremove 50\nclose 50\nadd 0\n");
    CHECK(copies[0].fd == -1 && all_have_it());
    ntakes = 0;
    takes[0] = takes[1] = -EAGAIN;
    add_fails = ENOSPC;
    source_is_ready(1, "read\nremove 0\nwrite 51 a\nadd 51\nwrite 52 a\nadd 52\n");
    CHECK(!copies[1].waiting && !copies[2].waiting);
}

/* Standard input is in the loop already, or cannot be. */
static void reading_on(void)
{
    begin();
    add_fails = EEXIST;
    copy_ready(&copies[0].watch);
    happens("add 0\n");
    CHECK(!ended);
    add_fails = ENOMEM;
    copy_ready(&copies[0].watch);
    happens("add 0\n");
    CHECK(ended);
    copy_ready(&copies[0].watch);
    happens("");
}

int main(void)
{
    static void (*const tests[])(void) = {opening, one_alone,        files,     connecting, no_end, copying,
                                          failing, waiting_for_room, reading_on};
    say_through(keep_line);
    run_apart(tests, sizeof tests / sizeof *tests);
    return 0;
}
