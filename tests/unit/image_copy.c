/* Which pages of a program's data are copied, and where to: those that hold something, whatever of a write the kernel does at once, and
 * no page behind the end, where another PE's data lies.
 *
 * skip: tsan aarch64 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static int writes, interrupted, refused; /* counted; the numbers of those that are interrupted and refused */
static long most;                        /* bytes of one write */
static int refusal;                      /* errno; 0: the write returns 0 */

/* Of a write. */
static long made_up_kernel(long number, ...)
{
    long word[6];
    va_list words;
    va_start(words, number);
    for (int i = 0; i < 6; i++)
        word[i] = va_arg(words, long);
    va_end(words);
    if (number != SYS_pwrite64)
        return syscall(number, word[0], word[1], word[2], word[3], word[4], word[5]);
    writes++;
    if (writes == refused)
        return refusal ? (errno = refusal, -1) : (errno = EINTR, 0);
    if (writes == interrupted)
        return errno = EINTR, -1;
    return pwrite((int)(int32_t)word[0], (const void *)word[1], (size_t)(word[2] < most ? word[2] : most), word[3]);
}

/* Every word is as wide as a register. */
#define kernel_6(number, a, b, c, d, e, f, ...) \
    made_up_kernel(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define syscall(...) kernel_6(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#include "../../src/base/image_move.c"
#undef syscall

#include "unit/check.h"

#include <string.h>

enum { PAGES = 12 };

static size_t page;
static char *data; /* pages, of which the first and the last are not the program's */
static int file;
static struct image image;

static char *page_at(int number)
{
    return data + (size_t)number * page;
}

/* Returns a byte of the file, at the place of a page of the data. */
static int in_file(int number, size_t at)
{
    char byte = 0;
    CHECK(pread(file, &byte, 1, (off_t)(page + (size_t)(number - 1) * page + at)) == 1);
    return byte;
}

static void open_file(void)
{
    file = memfd_create("image", MFD_CLOEXEC);
    CHECK(file >= 0 && ftruncate(file, (off_t)((PAGES + 4) * page)) == 0);
    writes = interrupted = refused = 0;
    most = 1l << 40;
}

/* Pages 1 .. 10: one part, of which the pages from 6 on began as zeros. Pages 0 and 11 lie beside it. */
static void make_data(void)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    data = mmap(0, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(data != MAP_FAILED);
    const uintptr_t at = (uintptr_t)page_at(1), end = (uintptr_t)page_at(PAGES - 1);
    image = (struct image){.start = at, .end = end, .parts = 1, .part = {{at, (uintptr_t)page_at(6), end}}};
    page_at(0)[0] = page_at(0)[page - 1] = page_at(PAGES - 1)[0] = 99;
    page_at(1)[0] = 1;
    page_at(2)[page - 1] = 2;
    page_at(4)[8] = 4;
    page_at(5)[16] = 5;
    page_at(6)[24] = 6; /* each of four words that are looked at together */
    page_at(7)[0] = 0;  /* touched, and a page of zeros */
    page_at(10)[page - 8] = 10;
}

static bool holds_the_data(void)
{
    return in_file(1, 0) == 1 && in_file(2, page - 1) == 2 && in_file(4, 8) == 4 && in_file(5, 16) == 5 &&
           in_file(6, 24) == 6 && in_file(10, page - 8) == 10 && in_file(0, 0) == 0 && in_file(0, page - 1) == 0 &&
           in_file(PAGES - 1, 0) == 0;
}

/* Returns whether the file has a hole at the place of the page. */
static bool hole(int number)
{
    const off_t at = (off_t)((size_t)number * page);
    return lseek(file, at, SEEK_DATA) >= at + (off_t)page || lseek(file, at, SEEK_DATA) < 0;
}

static struct mover mover(int pagemap)
{
    return (struct mover){.image = &image, .page = page, .fd = file, .at = (off_t)page, .pagemap = pagemap};
}

static int copies(int pagemap)
{
    struct mover m = mover(pagemap);
    return copy_part(&m, &image.part[0]);
}

/* With the kernel's list of pages, and without. */
static void copies_all(void)
{
    struct mover m = mover(-1);
    const int pagemap = open_pagemap(&m);
    CHECK(pagemap >= 0 && m.pagemap == pagemap);
    for (int known = 0; known < 2; known++) {
        open_file();
        CHECK(copies(known ? pagemap : -1) == 0);
        CHECK(holds_the_data() && hole(3) && hole(7) && hole(8) && hole(9) && writes == 3);
        CHECK(hole(0) && hole(PAGES - 1) && close(file) == 0);
    }
    CHECK(close(pagemap) == 0);
}

static void copies_no_more(void)
{
    const struct image_part before = image.part[0];
    image.part[0] = (struct image_part){(uintptr_t)page_at(1), (uintptr_t)page_at(4), (uintptr_t)page_at(4)};
    open_file(); /* page 4 begins the part of another, whether it was zeros or not */
    CHECK(copies(-1) == 0 && in_file(1, 0) == 1 && in_file(4, 8) == 0 && close(file) == 0);
    image.part[0] = (struct image_part){(uintptr_t)page_at(1), (uintptr_t)page_at(1), (uintptr_t)page_at(4)};
    open_file();
    CHECK(copies(-1) == 0 && in_file(1, 0) == 1 && in_file(2, page - 1) == 2 && in_file(4, 8) == 0 && close(file) == 0);
    image.part[0] = before;
}

static void goes_on_after_pieces(void)
{
    open_file();
    most = 100;
    CHECK(copies(-1) == 0 && holds_the_data() && close(file) == 0);
    for (int number = 1; number <= 3; number++) {
        open_file();
        interrupted = number;
        CHECK(copies(-1) == 0 && writes == 4 && holds_the_data() && close(file) == 0);
    }
}

static void stops_when_it_is_refused(void)
{
    for (int number = 1; number <= 3; number++) {
        open_file();
        refused = number;
        refusal = EIO;
        CHECK(copies(-1) == EIO && writes == number && close(file) == 0);
        open_file();
        refused = number;
        refusal = 0;
        CHECK(copies(-1) == ENOSPC && writes == number && close(file) == 0);
    }
}

/* What is moved: the parts, and no more of them than there are. */
static void moves(void)
{
    open_file();
    CHECK(image_move(&(struct image){.start = 8, .end = 8}, file, 0) == EINVAL);
    CHECK(image_move(&image, file, 1) == EINVAL && image_move(&image, -1, 0) == EBADF);
    CHECK(image_move(&image, file, (off_t)(7 * page)) == EINVAL); /* a page too short */
    refused = 2;
    refusal = EIO;
    CHECK(image_move(&image, file, (off_t)page) == EIO && page_at(2)[page - 1] == 2);
    close(file);
    open_file();
    image.parts = 2;
    image.part[0] = (struct image_part){(uintptr_t)page_at(1), (uintptr_t)page_at(3), (uintptr_t)page_at(3)};
    image.part[1] = (struct image_part){(uintptr_t)page_at(5), (uintptr_t)page_at(5), (uintptr_t)page_at(7)};
    image.part[2] = (struct image_part){(uintptr_t)page_at(10), (uintptr_t)page_at(11), (uintptr_t)page_at(11)};
    CHECK(image_move(&image, file, (off_t)page) == 0 && page_at(1)[0] == 1 && page_at(2)[page - 1] == 2);
    CHECK(page_at(5)[16] == 5 && page_at(6)[24] == 6 && page_at(4)[8] == 0 && in_file(10, page - 8) == 0);
    page_at(9)[3] = 77;
    CHECK(in_file(9, 3) == 77 && page_at(0)[0] == 99 && page_at(PAGES - 1)[0] == 99 && in_file(PAGES - 1, 0) == 0);
    CHECK(image_move(&image, file, (off_t)page) == EBUSY && close(file) == 0);
}

int main(void)
{
    make_data();
    copies_all();
    copies_no_more();
    goes_on_after_pieces();
    stops_when_it_is_refused();
    moves();
    CHECK(munmap(data, PAGES * page) == 0);
    return 0;
}
