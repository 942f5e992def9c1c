/* What callers say at the door of the lines, and what called PEs answer. The first byte says who we are, and whether
 * the other end knows the key. */
#include "fuzz/fuzz.h"

#include "../../src/uccs/watch/line.c" /* its lines start anew for each input */

#include <setjmp.h>
#include <signal.h>

enum { CALLED = 1, KNOWS_KEY = 2 };

static jmp_buf home;

#define ENDS(name)                                \
    _Noreturn void name(const char *format, ...); \
    _Noreturn void name(const char *format, ...)  \
    {                                             \
        (void)format;                             \
        longjmp(home, 1);                         \
    }

ENDS(__wrap_watch_fail)
ENDS(__wrap_watch_lost)
ENDS(__wrap_watch_abandon)

void __wrap_rte_expect_end(void);
void __wrap_rte_expect_end(void) {}

/* Returns the number of bytes that the other end says next. */
static size_t say(int other, struct fuzz *fuzz, size_t most)
{
    const size_t now = fuzz->left < most ? fuzz->left : most;
    (void)!write(other, fuzz->at, now);
    fuzz->at += now;
    fuzz->left -= now;
    return now;
}

static void be_called(int fd, int other, struct fuzz *fuzz, bool knows)
{
    struct door_guest *guest = &door.guests[0];
    *guest = (struct door_guest){.fd = fd};
    (void)proof_make_challenge(&guest->challenge);
    if (knows) {
        struct proof_hello hello = {.from = 1};
        proof_sign(door.key, &hello, &guest->challenge);
        (void)!write(other, &hello, sizeof hello);
    }
    while (say(other, fuzz, 16)) {
        if (guest->fd >= 0)
            (void)door_news(&door, guest);
        else if (lines && lines->fd >= 0)
            hear(lines);
    }
}

/* The called PE has no other way. */
static void call_other(int fd, int other, struct fuzz *fuzz)
{
    struct line *line = add_line(-1, 1);
    line->call = calloc(1, sizeof *line->call);
    *line->call = (struct call){.state = CALL_HEARS, .fd = fd, .events = -1, .tries = 100, .pe = 1};
    while ((line->call || line->fd >= 0) && say(other, fuzz, 8))
        handle(line);
}

static void talk(const int ends[2], uint8_t how, struct fuzz *fuzz)
{
    if (setjmp(home))
        return;
    if (how & CALLED)
        be_called(ends[0], ends[1], fuzz, how & KNOWS_KEY);
    else
        call_other(ends[0], ends[1], fuzz);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int opened;
    struct fuzz fuzz = {data, size};
    const char *why;
    int ends[2];
    if (!opened++ && (env_load(&why) != 0 || rte_init() != 0))
        return 0;
    signal(SIGPIPE, SIG_IGN);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
        return 0;
    uccs_core.npes = 2;
    struct door_guest guest = {.fd = -1};
    door.guests = &guest;
    door.places = 1;
    door.npes = 2;
    door.let_in = let_in;
    const uint8_t how = fuzz_byte(&fuzz);
    watch_end_forget();
    talk(ends, how, &fuzz);
    const bool mine = door.guests[0].fd >= 0 || (lines && (lines->fd >= 0 || (lines->call && lines->call->fd >= 0)));
    if (mine)
        close(ends[0]);
    close(ends[1]);
    while (lines) {
        struct line *line = lines;
        lines = line->next;
        free(line->call);
        free(line);
    }
    return 0;
}
