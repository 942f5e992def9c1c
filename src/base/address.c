/* The loader's list says which object of the process an address belongs to, and the object's file which symbol. A file that
 * cannot be read, or has no such symbol, leaves the variable without a name. */
#include "base/address.h"

#include "base/elf.h"

#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

bool address_describe(const void *address, char *text, size_t room)
{
    struct owner owner = {.address = (uintptr_t)address};
    char name[128];
    dl_iterate_phdr(object_holds, &owner); /* first: blocks of thread-local variables lie on the stacks of threads */
    if (!owner.found && on_my_stack(address))
        return snprintf(text, room, "it is a local variable, on the stack; " INSTEAD), false;
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
