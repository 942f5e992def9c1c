/* Reads DT_NEEDED of a file and of the libraries behind it, breadth first like the dynamic linker. */
#include "needed.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define LIBRARIES 512 /* of one program */

struct file {
    const char *bytes;
    size_t size;
};

struct walk {
    bool (*take)(const char *name, const char *path, void *state);
    void *state;
    bool taken;
    struct file cache;
    const char *rpath;      /* of the program, which its libraries inherit; or null */
    char origin[PATH_MAX];  /* the program's folder */
    char *names[LIBRARIES]; /* seen */
    char *paths[LIBRARIES]; /* where, or null */
    int seen;
};

static struct file open_file(const char *path)
{
    struct file file = {0};
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return file;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
        void *at = mmap(0, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED)
            file = (struct file){at, (size_t)about.st_size};
    }
    close(fd);
    return file;
}

static void close_file(struct file *file)
{
    if (file->bytes)
        munmap((void *)file->bytes, file->size);
    *file = (struct file){0};
}

/* Returns `bytes` bytes of the file at an offset, or null beyond its end. */
static const void *part(const struct file *file, uint64_t at, uint64_t bytes)
{
    return at <= file->size && bytes <= file->size - at ? file->bytes + at : 0;
}

/* Returns the string at an offset, or null when the file ends before it does. */
static const char *text(const struct file *file, uint64_t at)
{
    return at < file->size && memchr(file->bytes + at, 0, file->size - at) ? file->bytes + at : 0;
}

/* ---- one ELF file ---- */

struct elf {
    struct file file;
    const ElfW(Phdr) *header;
    int headers;
    const ElfW(Dyn) *dynamic; /* or null */
    size_t entries;
    uint64_t strings; /* offset in the file */
};

static uint64_t offset_of(const struct elf *elf, uint64_t address)
{
    for (int i = 0; i < elf->headers; i++)
        if (elf->header[i].p_type == PT_LOAD && address - elf->header[i].p_vaddr < elf->header[i].p_filesz)
            return address - elf->header[i].p_vaddr + elf->header[i].p_offset;
    return UINT64_MAX;
}

static enum needed_kind open_elf(struct elf *elf, const char *path)
{
    *elf = (struct elf){.file = open_file(path)};
    if (!elf->file.bytes)
        return NEEDED_ABSENT;
    const ElfW(Ehdr) *head = part(&elf->file, 0, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? 2 : 1) || head->e_phentsize != sizeof *elf->header)
        return NEEDED_FOREIGN;
    elf->headers = head->e_phnum;
    elf->header = part(&elf->file, head->e_phoff, (uint64_t)head->e_phnum * sizeof *elf->header);
    if (!elf->header)
        return NEEDED_FOREIGN;
    for (int i = 0; i < elf->headers; i++)
        if (elf->header[i].p_type == PT_DYNAMIC) {
            elf->dynamic = part(&elf->file, elf->header[i].p_offset, elf->header[i].p_filesz);
            elf->entries = elf->header[i].p_filesz / sizeof *elf->dynamic;
        }
    if (!elf->dynamic)
        return NEEDED_STATIC;
    for (size_t i = 0; i < elf->entries && elf->dynamic[i].d_tag != DT_NULL; i++)
        if (elf->dynamic[i].d_tag == DT_STRTAB)
            elf->strings = offset_of(elf, elf->dynamic[i].d_un.d_ptr);
    return NEEDED_DYNAMIC;
}

/* Returns the string of the next entry with this tag from *at on, or null. */
static const char *next_entry(const struct elf *elf, int64_t tag, size_t *at)
{
    while (*at < elf->entries && elf->dynamic[*at].d_tag != DT_NULL) {
        const ElfW(Dyn) *entry = &elf->dynamic[(*at)++];
        if (entry->d_tag == tag)
            return text(&elf->file, elf->strings + entry->d_un.d_val);
    }
    return 0;
}

/* ---- where a library lies ---- */

static bool readable(const char *path)
{
    struct elf elf;
    bool good = open_elf(&elf, path) == NEEDED_DYNAMIC;
    close_file(&elf.file);
    return good;
}

/* Writes `folder` with $ORIGIN replaced, and "/name" behind it. */
static bool join(char path[PATH_MAX], const char *folder, size_t length, const char *origin, const char *name)
{
    size_t skip = 0;
    if (length >= 7 && strncmp(folder, "$ORIGIN", 7) == 0)
        skip = 7;
    else if (length >= 9 && strncmp(folder, "${ORIGIN}", 9) == 0)
        skip = 9;
    int wrote = snprintf(path, PATH_MAX, "%s%.*s/%s", skip ? origin : "", (int)(length - skip), folder + skip, name);
    return length && wrote > 0 && wrote < PATH_MAX;
}

static bool find_in(const char *folders, const char *origin, const char *name, char path[PATH_MAX])
{
    while (folders && *folders) {
        size_t length = strcspn(folders, ":;");
        if (join(path, folders, length, origin, name) && readable(path))
            return true;
        folders += length + (folders[length] != 0);
    }
    return false;
}

/* The cache of ldconfig: a head of 48 bytes, entries of 24; their strings count from the head. */
static bool find_in_cache(const struct file *cache, const char *name, char path[PATH_MAX])
{
    const char *head = cache->bytes ? memmem(cache->bytes, cache->size, CACHE_MAGIC, strlen(CACHE_MAGIC)) : 0;
    uint32_t count, at[2];
    if (!head || !part(cache, (uint64_t)(head - cache->bytes), 48))
        return false;
    struct file body = {head, cache->size - (size_t)(head - cache->bytes)};
    memcpy(&count, head + 20, sizeof count);
    for (uint32_t i = 0; i < count; i++) {
        const char *entry = part(&body, 48 + 24 * (uint64_t)i, 24);
        if (!entry)
            return false;
        memcpy(at, entry + 4, sizeof at);
        const char *key = text(&body, at[0]), *value = text(&body, at[1]);
        if (key && value && strcmp(key, name) == 0 && strlen(value) < PATH_MAX && readable(value)) {
            strcpy(path, value);
            return true;
        }
    }
    return false;
}

static bool find_library(const struct walk *walk, const struct elf *by, const char *origin, const char *name,
                         char path[PATH_MAX])
{
    size_t first = 0, second = 0;
    const char *runpath = next_entry(by, DT_RUNPATH, &first), *rpath = runpath ? 0 : next_entry(by, DT_RPATH, &second);
    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && readable(path);
    return find_in(rpath, origin, name, path) || (!runpath && find_in(walk->rpath, walk->origin, name, path)) ||
           find_in(getenv("LD_LIBRARY_PATH"), "", name, path) || find_in(runpath, origin, name, path) ||
           find_in_cache(&walk->cache, name, path) || find_in("/lib64:/usr/lib64:/lib:/usr/lib", "", name, path);
}

/* ---- the walk ---- */

static bool is_new(const struct walk *walk, const char *name)
{
    for (int i = 0; i < walk->seen; i++)
        if (strcmp(walk->names[i], name) == 0)
            return false;
    return walk->seen < LIBRARIES;
}

/* Writes the folder that a file lies in, behind symbolic links. */
static void folder_of(const char *path, char folder[PATH_MAX])
{
    if (!realpath(path, folder))
        strcpy(folder, ".");
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
}

static void visit(struct walk *walk, const struct elf *elf, const char *origin)
{
    size_t at = 0;
    const char *name;
    char path[PATH_MAX];
    while (!walk->taken && (name = next_entry(elf, DT_NEEDED, &at))) {
        if (!is_new(walk, name))
            continue;
        bool found = find_library(walk, elf, origin, name, path);
        walk->names[walk->seen] = strdup(name);
        walk->paths[walk->seen] = found ? strdup(path) : 0;
        if (!walk->names[walk->seen++])
            abort();
        walk->taken = walk->take(name, found ? path : 0, walk->state);
    }
}

enum needed_kind needed_walk(const char *file, bool (*take)(const char *name, const char *path, void *state),
                             void *state, bool *taken)
{
    static struct walk walk; /* too large for a stack */
    struct elf elf, library;
    size_t at = 0;
    char origin[PATH_MAX];
    walk = (struct walk){.take = take, .state = state, .cache = open_file(CACHE)};
    enum needed_kind kind = open_elf(&elf, file);
    if (kind == NEEDED_DYNAMIC) {
        folder_of(file, walk.origin);
        walk.rpath = next_entry(&elf, DT_RPATH, &at);
        visit(&walk, &elf, walk.origin);
    }
    for (int i = 0; i < walk.seen && !walk.taken; i++) {
        if (!walk.paths[i])
            continue;
        folder_of(walk.paths[i], origin);
        if (open_elf(&library, walk.paths[i]) == NEEDED_DYNAMIC)
            visit(&walk, &library, origin);
        close_file(&library.file);
    }
    for (int i = 0; i < walk.seen; i++) {
        free(walk.names[i]);
        free(walk.paths[i]);
    }
    *taken = walk.taken;
    close_file(&elf.file);
    close_file(&walk.cache);
    return kind;
}
