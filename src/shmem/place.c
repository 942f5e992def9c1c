#include "shmem/place.h"

#include "base/elf.h"
#include "rte/rte.h"
#include "shmem/calls.h"

#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- what lies at an address of this process ---- */

/* The loader's list says which object of the process an address belongs to, and the object's file which symbol. A file that
 * cannot be read, or has no such symbol, leaves the variable without a name. */
#define INSTEAD "use a global or static variable, or shmem_malloc"

struct owner {
    uintptr_t address;
    uint64_t value; /* that a symbol for the address has; of thread-local ones: the offset in the object's block */
    const char *path;
    bool program, writable, of_thread, found;
    int objects; /* looked at up to now; the program is the first */
};

static bool is_fixed(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_GNU_RELRO && address - info->dlpi_addr - h->p_vaddr < h->p_memsz)
            return true;
    }
    return false;
}

/* Returns 1, which ends the listing, when this object holds the address. */
static int object_holds(struct dl_phdr_info *info, size_t size, void *data)
{
    struct owner *owner = data;
    const bool program = owner->objects++ == 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        const uintptr_t block = (uintptr_t)info->dlpi_tls_data, start = info->dlpi_addr + h->p_vaddr;
        const bool of_thread = h->p_type == PT_TLS && block && owner->address - block < h->p_memsz;
        if (!of_thread && (h->p_type != PT_LOAD || owner->address - start >= h->p_memsz))
            continue;
        *owner = (struct owner){.address = owner->address,
                                .value = owner->address - (of_thread ? block : info->dlpi_addr),
                                .path = program ? "/proc/self/exe" : info->dlpi_name,
                                .program = program,
                                .writable = (h->p_flags & PF_W) && !is_fixed(info, owner->address),
                                .of_thread = of_thread,
                                .found = true};
        return 1;
    }
    return 0;
}

/* Writes the variable's name in quotes, or "it". */
static void write_name(const struct owner *owner, char *text, size_t room)
{
    uint64_t start;
    const struct elf *file = elf_open(owner->path);
    const char *name = (owner->of_thread ? elf_thread_variable : elf_variable)(file, owner->value, &start);
    if (name)
        snprintf(text, room, "`%s`", name);
    else
        snprintf(text, room, "it");
}

static bool on_my_stack(const void *address)
{
    pthread_attr_t attributes;
    void *start;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return false;
    const bool on =
        pthread_attr_getstack(&attributes, &start, &bytes) == 0 && (uintptr_t)address - (uintptr_t)start < bytes;
    pthread_attr_destroy(&attributes);
    return on;
}

static bool is_mapped(const void *address)
{
    unsigned char in_memory;
    return mincore((void *)((uintptr_t)address & -(uintptr_t)sysconf(_SC_PAGESIZE)), 1, &in_memory) == 0;
}

/* Writes what the address is and what to use in its place, such as "`table` is a variable of libfoo.so, and those of shared
 * libraries are not shared; link that library statically, or use shmem_malloc". Returns true when it is a variable of the
 * executable, for which the caller knows why it is not shared. Any thread; it may allocate. */
static bool address_describe(const void *address, char *text, size_t room)
{
    struct owner owner = {.address = (uintptr_t)address};
    char name[128];
    dl_iterate_phdr(object_holds, &owner); /* first: blocks of thread-local variables lie on the stacks of threads */
    if (!owner.found && on_my_stack(address))
        return snprintf(text, room, "it is a local variable, on the stack; " INSTEAD), false;
    if (!owner.found && !is_mapped(address))
        return snprintf(text, room, "nothing is mapped there; " INSTEAD), false;
    if (!owner.found)
        return snprintf(text, room, "it is private memory, as of malloc or of another thread's stack; " INSTEAD), false;
    write_name(&owner, name, sizeof name);
    const char *file = strrchr(owner.path, '/') ? strrchr(owner.path, '/') + 1 : owner.path;
    if (owner.of_thread)
        snprintf(text, room, "%s is thread-local: each thread has one of its own; " INSTEAD, name);
    else if (!owner.writable)
        snprintf(text, room, "%s is constant data of %s; " INSTEAD, name, owner.program ? "the program" : file);
    else if (!owner.program)
        snprintf(text, room,
                 "%s is a variable of %s, and those of shared libraries are not shared; link that library statically, "
                 "or use shmem_malloc",
                 name, file);
    else
        snprintf(text, room, "%s is a variable of the program; use shmem_malloc", name);
    return owner.program && owner.writable && !owner.of_thread;
}

/* Writes why a PE has no copy of a global variable of mine. */
static const char *peers_lack(int pe, char *text, size_t room)
{
    const bool near = !uccs_far_pe(pe);
    const bool shares = !near || rte.node->pe[rte_index_of(pe)].image_fd != NODE_PRIVATE;
    snprintf(text, room, shares ? "PE %d runs another program" : "those of PE %d are private", pe);
    return text;
}

_Noreturn void lat_fail_address(const char *call, const char *argument, const void *addr, int pe)
{
    size_t offset;
    char what[400], where[64];
    lat_require(call);
    if (pe < 0 || pe >= uccs_core.npes)
        lat_fail(call, "pe %d is out of range, the job has PEs 0 to %d", pe, uccs_core.npes - 1);
    const char *why = uccs_memory_why_private();
    if (!why && uccs_memory_find(addr, &offset) == UCCS_IMAGE)
        lat_fail(call, "%s %p is a global variable, but %s; use shmem_malloc", argument, addr,
                 peers_lack(pe, where, sizeof where));
    bool global = address_describe(addr, what, sizeof what);
    if (global && !why)
        why = "they lie apart from its other data";
    lat_fail(call, "%s %p is not a symmetric address%s%s%s: %s", argument, addr,
             global ? " (global variables are private here: " : "", global ? why : "", global ? ")" : "", what);
}

void *lat_resolve(const char *call, const char *argument, const void *addr, int pe)
{
    void *near = uccs_memory_resolve(addr, pe);
    if (!near)
        lat_fail_address(call, argument, addr, pe);
    return near;
}

struct proto_address lat_remote_address(const char *call, const char *argument, const void *addr, int pe)
{
    struct proto_address place = proto_address(addr);
    if (lat_unlikely(place.segment == PROTO_NOWHERE || (place.segment == PROTO_IMAGE && !proto_same_image(pe))))
        lat_fail_address(call, argument, addr, pe);
    return place;
}

struct proto_address lat_remote_word(const char *call, const char *argument, const void *addr, size_t size, int pe)
{
    if (lat_unlikely((uintptr_t)addr % size))
        lat_fail(call, "%s %p is not aligned to the %zu bytes of its type", argument, addr, size);
    return lat_remote_address(call, argument, addr, pe);
}

bool lat_moves_nothing(const char *call, size_t bytes, int pe)
{
    lat_require(call);
    return bytes == 0 && pe >= 0 && pe < uccs_core.npes;
}

_Noreturn lat_cold void lat_fail_bytes(const char *call, size_t nelems, size_t size)
{
    lat_require(call);
    lat_fail(call, "%zu elements of %zu bytes are more than memory can hold; was the number negative?", nelems, size);
}

void lat_require_span(const char *call, ptrdiff_t stride, size_t count, size_t size)
{
    const size_t apart = stride < 0 ? -(size_t)stride : (size_t)stride;
    size_t bytes;
    if (count > 1 && (__builtin_mul_overflow(apart, size, &bytes) || __builtin_mul_overflow(bytes, count, &bytes) ||
                      bytes > LAT_BYTES_MOST))
        lat_fail(call, "%zu blocks at a stride of %td elements are more than memory can hold", count, stride);
}

int lat_addr_accessible(const void *addr, int pe)
{
    if (!uccs_far_pe(pe))
        return uccs_memory_resolve(addr, pe) != 0;
    struct proto_address place = proto_address(addr);
    return place.segment == PROTO_HEAP || (place.segment == PROTO_IMAGE && proto_same_image(pe));
}

/* For the calling PE it returns `dest` itself, not the second mapping of its pages. */
void *lat_ptr(const void *dest, int pe)
{
    size_t offset;
    if (pe == uccs_core.me)
        return uccs_memory_find(dest, &offset) != UCCS_NOWHERE ? (void *)dest : 0;
    return uccs_memory_resolve(dest, pe);
}
