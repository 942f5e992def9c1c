/* What callers say at the door of the lines, and what called PEs answer. The first byte says who we are, and whether
 * the other end knows the key. */
#include "fuzz/fuzz.h"

#include "../../src/uccs/watch/line.c" /* its guests start anew for each input */

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
ENDS(__wrap_watch_abandon)

void __wrap_rte_expect_end(void);
void __wrap_rte_expect_end(void) {}

static void be_called(int fd, int other, struct fuzz *fuzz, bool knows)
{
    struct guest *guest = &guests[0];
    *guest = (struct guest){.fd = fd};
    (void)watch_proof_challenge(&guest->challenge);
    if (knows) {
        struct watch_hello hello = {.from = 1};
        watch_proof_sign(rte.node->nonce, &hello, &guest->challenge);
        (void)!write(other, &hello, sizeof hello);
    }
    while (fuzz->left) {
        const size_t now = fuzz->left < 16 ? fuzz->left : 16;
        (void)!write(other, fuzz->at, now);
        fuzz->at += now;
        fuzz->left -= now;
        if (guest->fd >= 0)
            hear_guest(guest);
        else if (lines && lines->fd >= 0)
            hear(lines);
    }
}

static void call_other(int fd, int other, struct fuzz *fuzz)
{
    struct line *line = add_line(fd, 1, HEARING);
    line->tries = TRIES; /* it has no way back */
    while (fuzz->left && line->state != OVER) {
        const size_t now = fuzz->left < 8 ? fuzz->left : 8;
        (void)!write(other, fuzz->at, now);
        fuzz->at += now;
        fuzz->left -= now;
        handle(line);
    }
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
    for (int i = 0; i < GUESTS; i++)
        guests[i].fd = -1;
    const uint8_t how = fuzz_byte(&fuzz);
    watch_end_forget();
    talk(ends, how, &fuzz);
    if (guests[0].fd >= 0 || (lines && lines->fd >= 0))
        close(ends[0]);
    close(ends[1]);
    while (lines) {
        struct line *line = lines;
        lines = line->next;
        free(line);
    }
    return 0;
}
