/* The calls by which a program's data moves: none for what cannot move, all signals blocked until it has, the kernel's list of pages
 * believed only where it shows pages that exist and closed whatever its number, and the mapping. The kernel is made up.
 *
 * skip: asan-ubsan tsan aarch64 */
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static long made_up_kernel(long number, ...);
/* Every word is as wide as a register. */
#define kernel_6(number, a, b, c, d, e, f, ...) \
    made_up_kernel(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define syscall(...) kernel_6(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#include "base/image_move.c"
#undef syscall

#include "unit/check.h"

#include <string.h>

enum { PAGE = 4096, FILE_AT = 2 * PAGE };
#define KEPT UINT64_C(0x8765432112345678)

static _Alignas(PAGE) char data[3 * PAGE];
static struct image image;
static int file;

static struct {
    int opened;               /* descriptor of the list; -1: there is none */
    bool shown[2], exists[2]; /* of the stack's page, and of the data's first */
    int map_error;
} answer;
static struct {
    int all, blocks, unblocks, lists, reads, writes, maps, closes;
} calls;

static long masks(long how, const uint64_t *set, uint64_t *before, long bytes)
{
    CHECK(how == SIG_SETMASK && bytes == 8);
    if (before) {
        CHECK(*set == UINT64_MAX && ++calls.blocks == 1 && calls.all == 1);
        *before = KEPT;
    } else {
        CHECK(*set == KEPT && ++calls.unblocks == 1);
    }
    return 0;
}

/* The first two reads are those that find out whether the list is true. */
static long reads(uint64_t *entries, long bytes, long from)
{
    const int number = calls.reads++;
    const uintptr_t stack = (uintptr_t)&number / PAGE * 8, first = (uintptr_t)data / PAGE * 8;
    for (long i = 0; i < bytes / 8; i++)
        entries[i] = number > 1 || answer.exists[number] ? UINT64_C(1) << 63 : 0;
    if (number == 0)
        CHECK(bytes == 8 && (uintptr_t)from >= stack && (uintptr_t)from <= stack + 8 * 16);
    else if (number == 1)
        CHECK(bytes == 8 && (uintptr_t)from == first);
    return number > 1 || answer.shown[number] ? bytes : bytes - 1;
}

static long maps(const long *word)
{
    CHECK(word[0] == (long)data && word[1] == 3 * PAGE && word[2] == (PROT_READ | PROT_WRITE));
    CHECK(word[3] == (MAP_SHARED | MAP_FIXED) && word[4] == file && word[5] == FILE_AT && !calls.unblocks);
    calls.maps++;
    return answer.map_error ? (errno = answer.map_error, -1) : word[0];
}

static long made_up_kernel(long number, ...)
{
    long word[6];
    va_list words;
    va_start(words, number);
    for (int i = 0; i < 6; i++)
        word[i] = va_arg(words, long);
    va_end(words);
    calls.all++;
    switch (number) {
    case SYS_rt_sigprocmask: return masks(word[0], (uint64_t *)word[1], (uint64_t *)word[2], word[3]);
    case SYS_openat: CHECK(strcmp((char *)word[1], "/proc/self/pagemap") == 0 && ++calls.lists); return answer.opened;
    case SYS_pread64: CHECK((int)word[0] == answer.opened); return reads((uint64_t *)word[1], word[2], word[3]);
    case SYS_pwrite64: CHECK(word[0] == file && ++calls.writes); return word[2];
    case SYS_close: CHECK((int)word[0] == answer.opened && ++calls.closes); return 0;
    case SYS_mmap: return maps(word);
    default: CHECK(!"a call of these");
    }
    return -1;
}

static int move_with(int list, bool stack_shown, bool stack_exists, bool data_shown, bool data_exists)
{
    moved = false;
    memset(&calls, 0, sizeof calls);
    answer.opened = list;
    answer.shown[0] = stack_shown, answer.exists[0] = stack_exists;
    answer.shown[1] = data_shown, answer.exists[1] = data_exists;
    const int status = image_move(&image, file, FILE_AT);
    CHECK(calls.blocks == 1 && calls.unblocks == 1 && calls.lists == 1 && calls.maps == 1);
    CHECK(calls.closes == (list >= 0) && moved == !status);
    return status;
}

static void cannot_move(struct image what, off_t at, int status)
{
    memset(&calls, 0, sizeof calls);
    CHECK(image_move(&what, file, at) == status && calls.all == 0 && !moved);
}

static void nothing_is_called(void)
{
    const uintptr_t start = (uintptr_t)data;
    CHECK(ftruncate(file, FILE_AT + 6 * PAGE) == 0);
    cannot_move((struct image){.start = start, .end = start}, FILE_AT, EINVAL);
    cannot_move((struct image){.start = start + PAGE, .end = start}, FILE_AT, EINVAL);
    cannot_move(image, FILE_AT + 1, EINVAL);
    cannot_move(image, 1, EINVAL);
    CHECK(ftruncate(file, FILE_AT + 3 * PAGE - 1) == 0);
    cannot_move(image, FILE_AT, EINVAL);
    CHECK(ftruncate(file, FILE_AT + 3 * PAGE) == 0); /* just long enough */
}

/* The list tells of the one page that began as zeros: it is read a third time where it is believed. */
static void lists(void)
{
    CHECK(move_with(-1, true, true, true, true) == 0 && calls.reads == 0 && calls.writes == 1);
    CHECK(move_with(0, true, true, true, true) == 0 && calls.reads == 3);
    CHECK(move_with(9, true, true, true, true) == 0 && calls.reads == 3);
    CHECK(move_with(9, false, true, true, true) == 0 && calls.reads == 1);
    CHECK(move_with(9, true, false, true, true) == 0 && calls.reads == 1);
    CHECK(move_with(9, true, true, false, true) == 0 && calls.reads == 2);
    CHECK(move_with(9, true, true, true, false) == 0 && calls.reads == 2);
    CHECK(move_with(0, false, false, false, false) == 0 && calls.reads == 1);
    answer.map_error = ENOMEM;
    CHECK(move_with(9, true, true, true, true) == ENOMEM);
    answer.map_error = 0;
}

static void moves_once(void)
{
    CHECK(move_with(9, true, true, true, true) == 0);
    memset(&calls, 0, sizeof calls);
    CHECK(image_move(&image, file, FILE_AT) == EBUSY && calls.all == 0);
    moved = false;
}

/* Each word of a page counts. */
static void zeros(void)
{
    CHECK(is_zero((uintptr_t)&data[PAGE], PAGE));
    for (int at = 0; at < PAGE; at++) {
        data[PAGE + at] = 1;
        CHECK(!is_zero((uintptr_t)&data[PAGE], PAGE) && is_zero((uintptr_t)&data[2 * PAGE], PAGE));
        data[PAGE + at] = 0;
    }
}

static bool threads;

bool image_threaded(void)
{
    return threads;
}

int main(void)
{
    const uintptr_t at = (uintptr_t)data;
    if (sysconf(_SC_PAGESIZE) != PAGE)
        return 0;
    image = (struct image){.start = at, .end = at + 3 * PAGE, .parts = 1, .part = {{at, at + 2 * PAGE, at + 3 * PAGE}}};
    file = memfd_create("image", MFD_CLOEXEC);
    data[1] = 1;
    CHECK(file >= 0);
    nothing_is_called();
    lists();
    moves_once();
    threads = true;
    cannot_move(image, FILE_AT, EBUSY);
    zeros();
    CHECK(close(file) == 0);
    return 0;
}
