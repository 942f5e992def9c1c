/* Decides which pages of the executable may move. image_move.c moves them.
 *
 * Both ends lie on page borders for good reasons. Start: the loader protects RELRO up to the last whole page, so the
 * rest of its last, partial page is ordinary data. End: the kernel starts the program's break on the page after .bss,
 * never on the same page. */
#include "base/image.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

struct program {
    uintptr_t bias;
    const ElfW(Phdr) *header;
    int headers;
};

static uintptr_t page_size(void)
{
    return (uintptr_t)sysconf(_SC_PAGESIZE);
}

static uintptr_t page_down(uintptr_t x)
{
    return x & -page_size();
}

static uintptr_t page_up(uintptr_t x)
{
    return page_down(x + page_size() - 1);
}

/* The first object that the loader lists is the executable, also in a static executable. Returns 1, which stops the
 * listing. */
static int take_first(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    *(struct program *)data = (struct program){info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum};
    return 1;
}

static const ElfW(Phdr) *find_header(const struct program *p, uint32_t type)
{
    for (int i = 0; i < p->headers; i++)
        if (p->header[i].p_type == type)
            return &p->header[i];
    return NULL;
}

/* ---- does the program link with the library? ---- */

static bool contains_this_code(const struct program *p)
{
    uintptr_t here = (uintptr_t)take_first - p->bias; /* static, so never another object's stub */
    for (int i = 0; i < p->headers; i++)
        if (p->header[i].p_type == PT_LOAD && here - p->header[i].p_vaddr < p->header[i].p_memsz)
            return true;
    return false;
}

static bool needs(const struct program *p, const char *soname)
{
    const ElfW(Phdr) *h = find_header(p, PT_DYNAMIC);
    if (!h)
        return false;
    const ElfW(Dyn) *first = (const ElfW(Dyn) *)(p->bias + h->p_vaddr);
    uintptr_t strings = 0;
    for (const ElfW(Dyn) *d = first; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB)
            strings = d->d_un.d_ptr;
    if (!strings)
        return false;
    if (strings < p->bias) /* not every loader writes back the absolute address */
        strings += p->bias;
    for (const ElfW(Dyn) *d = first; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && !strcmp((const char *)(strings + d->d_un.d_val), soname))
            return true;
    return false;
}

/* ---- which pages? ---- */

/* Computes the part of one writable segment that lies behind RELRO. Returns false when none is left. */
static bool find_part(const struct program *p, const ElfW(Phdr) *load, struct image_part *part)
{
    const ElfW(Phdr) *relro = find_header(p, PT_GNU_RELRO);
    part->start = page_down(p->bias + load->p_vaddr);
    part->end = page_up(p->bias + load->p_vaddr + load->p_memsz);
    if (relro && p->bias + relro->p_vaddr < part->end) {
        uintptr_t fixed = page_down(p->bias + relro->p_vaddr + relro->p_memsz);
        part->start = fixed > part->start ? fixed : part->start;
    }
    part->zero_from = page_up(p->bias + load->p_vaddr + load->p_filesz);
    if (part->zero_from < part->start)
        part->zero_from = part->start;
    return part->start < part->end;
}

/* Returns true when a segment that stays as it is lies between two addresses. */
static bool parted(const struct program *p, uintptr_t from, uintptr_t to)
{
    for (int i = 0; i < p->headers; i++) {
        const ElfW(Phdr) *load = &p->header[i];
        uintptr_t start = p->bias + load->p_vaddr;
        if (load->p_type == PT_LOAD && !(load->p_flags & PF_W) && start < to && start + load->p_memsz > from)
            return true;
    }
    return false;
}

/* Returns an address among the program's data: of its global offset table, which is there in every dynamic program and which
 * tools that rewrite programs leave in its place; 0 in a static program. */
static uintptr_t landmark(const struct program *p)
{
    const ElfW(Phdr) *h = find_header(p, PT_DYNAMIC);
    for (const ElfW(Dyn) *d = h ? (const ElfW(Dyn) *)(p->bias + h->p_vaddr) : NULL; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_PLTGOT || d->d_tag == DT_INIT_ARRAY)
            return d->d_un.d_ptr < p->bias ? d->d_un.d_ptr + p->bias : d->d_un.d_ptr;
    return 0;
}

static const char *add_part(struct image *im, struct image_part part)
{
    if (im->parts == IMAGE_PARTS)
        return "has too many writable segments";
    if (im->parts && part.start < im->end) /* two segments share a page: the loader mapped the later one over it */
        im->part[im->parts - 1].end = part.start;
    im->part[im->parts++] = part;
    im->end = part.end; /* segments are sorted */
    im->start = im->part[0].start;
    return NULL;
}

/* Collects the parts. Most linkers make one writable segment; some make two, and so does the medium code model. patchelf puts
 * one with strings of its own before the code: of segments with others between them, those with the landmark count, and
 * without one the last. Returns null, or the reason why the program's data cannot move. */
static const char *find_range(const struct program *p, struct image *im)
{
    const uintptr_t known = landmark(p);
    bool found = false; /* the parts up to now have the landmark */
    for (int i = 0; i < p->headers; i++) {
        const ElfW(Phdr) *load = &p->header[i];
        struct image_part part;
        if (load->p_type != PT_LOAD || !(load->p_flags & PF_W))
            continue;
        if (load->p_flags & PF_X)
            return "has writable code";
        if (im->parts && parted(p, im->end, p->bias + load->p_vaddr)) {
            if (found)
                break;
            im->parts = 0;
        }
        found |= known - (p->bias + load->p_vaddr) < load->p_memsz;
        const char *why = find_part(p, load, &part) ? add_part(im, part) : NULL;
        if (why)
            return why;
    }
    return im->parts ? NULL : "has no writable data";
}

/* ---- the same program? ---- */

static bool read_build_id(const struct program *p, unsigned char *id)
{
    for (int i = 0; i < p->headers; i++) {
        if (p->header[i].p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(p->bias + p->header[i].p_vaddr), *end = at + p->header[i].p_memsz;
        size_t align = p->header[i].p_align == 8 ? 8 : 4;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
            const char *name = at + sizeof *note;
            const char *text = at + ((sizeof *note + note->n_namesz + align - 1) & -align);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
                memcpy(id, text, note->n_descsz < IMAGE_ID_BYTES ? note->n_descsz : IMAGE_ID_BYTES);
                return true;
            }
            at = text + ((note->n_descsz + align - 1) & -align);
        }
    }
    return false;
}

/* Three lanes of multiply and rotate. This tells programs apart; it is not meant to resist an adversary. */
static void mix_bytes(uint64_t lane[3], const void *data, size_t bytes)
{
    static const uint64_t factor[3] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u};
    const unsigned char *from = data;
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t word = 0;
        memcpy(&word, from + at, bytes - at < 8 ? bytes - at : 8);
        for (int i = 0; i < 3; i++) {
            lane[i] = (lane[i] ^ word) * factor[i];
            lane[i] = (lane[i] << 29 | lane[i] >> 35) + bytes;
        }
    }
}

static void mix_file(uint64_t lane[3], int fd, off_t at, size_t bytes)
{
    char part[4096];
    while (bytes) {
        ssize_t got = pread(fd, part, bytes < sizeof part ? bytes : sizeof part, at);
        if (got <= 0)
            return;
        mix_bytes(lane, part, got);
        at += got;
        bytes -= got;
    }
}

/* Without a build-id, hashes the layout and the code. It reads them from the file because a debugger's breakpoints
 * would show in memory. Programs that differ in neither use their variables alike. */
static void hash_program(const struct program *p, unsigned char *id)
{
    uint64_t lane[3] = {1, 2, 3};
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    mix_bytes(lane, p->header, p->headers * sizeof *p->header);
    for (int i = 0; fd >= 0 && i < p->headers; i++)
        if (p->header[i].p_type == PT_LOAD && (p->header[i].p_flags & PF_X))
            mix_file(lane, fd, p->header[i].p_offset, p->header[i].p_filesz);
    if (fd >= 0)
        close(fd);
    memcpy(id, lane, IMAGE_ID_BYTES);
}

const char *image_find(struct image *im, const char *soname)
{
    struct program program = {0};
    *im = (struct image){0};
    dl_iterate_phdr(take_first, &program);
    if (!contains_this_code(&program) && !needs(&program, soname))
        return "is not linked with Lateral itself";
    if (!read_build_id(&program, im->id))
        hash_program(&program, im->id);
    const char *why = find_range(&program, im);
    if (!why && image_contains(im, __builtin_frame_address(0)))
        why = "runs on a stack among its own data";
    if (why)
        im->start = im->end = im->parts = 0;
    return why;
}
