/* Records which code of a program or library runs. The compiler calls the function below at the head of each basic block
 * (-fsanitize-coverage=trace-pc); each module linked with this file has its own copy.
 *
 * The record is a file in the folder COVERAGE_DIR, which every process of the module maps: one byte per byte of the
 * module's code, 1 where a call returned to. A mapped file keeps what a process wrote that was killed. Its name is the build id of
 * the module, which coverage.py finds in the module's file.
 *
 * Relaxed stores are enough: a byte only ever becomes 1, and it is read when the processes are gone. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OWN __attribute__((visibility("hidden")))
#define NOTE_NAME "GNU"

extern const char __ehdr_start[] OWN; /* the linker's: where the module begins in memory, and where its code ends */
extern const char etext[] OWN;

enum { NEW, OPENING, OPEN, OFF };
static atomic_int state;
static _Atomic unsigned char *seen;

/* Returns what the addresses in the module's file are relative to. */
static const char *base(void)
{
    const ElfW(Ehdr) *head = (const void *)__ehdr_start;
    return head->e_type == ET_EXEC ? 0 : __ehdr_start;
}

/* Writes the module's build id in hexadecimal digits; returns whether it has one. */
static int build_id(char *text)
{
    const ElfW(Ehdr) *head = (const void *)__ehdr_start;
    const ElfW(Phdr) *part = (const void *)(__ehdr_start + head->e_phoff);
    for (int i = 0; i < head->e_phnum; i++) {
        const char *at = base() + part[i].p_vaddr;
        const char *end = at + part[i].p_memsz;
        while (part[i].p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const void *)at;
            const unsigned char *data = (const void *)(at + sizeof *note + (note->n_namesz + 3) / 4 * 4);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof NOTE_NAME && note->n_descsz <= 32) {
                for (unsigned k = 0; k < note->n_descsz; k++)
                    sprintf(text + 2 * k, "%02x", data[k]);
                return 1;
            }
            at = (const char *)data + (note->n_descsz + 3) / 4 * 4;
        }
    }
    return 0;
}

/* The kernel is called directly: tests put functions of their own in the place of open and mmap, to count calls or let one fail. */
static int map(void)
{
    const char *folder = getenv("COVERAGE_DIR");
    char path[PATH_MAX], id[65];
    if (!folder || !*folder || !build_id(id))
        return OFF;
    snprintf(path, sizeof path, "%s/%s", folder, id);
    size_t size = (size_t)(etext - base());
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return OFF;
    long done = syscall(SYS_ftruncate, file, size);
    long at = done ? -1 : syscall(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    if (at < 0 && at > -4096)
        return OFF;
    seen = (_Atomic unsigned char *)at;
    return OPEN;
}

void __sanitizer_cov_trace_pc(void) OWN;

void __sanitizer_cov_trace_pc(void)
{
    int now = atomic_load_explicit(&state, memory_order_acquire); /* with the release below: `seen` is set */
    if (now == NEW && atomic_compare_exchange_strong(&state, &now, OPENING)) {
        int saved = errno;
        now = map();
        errno = saved;
        atomic_store_explicit(&state, now, memory_order_release);
    }
    if (now != OPEN)
        return;
    size_t at = (size_t)((const char *)__builtin_return_address(0) - base());
    if (!atomic_load_explicit(&seen[at], memory_order_relaxed))
        atomic_store_explicit(&seen[at], 1, memory_order_relaxed);
}
