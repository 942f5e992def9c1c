/* How the move comes before everything else. The linker marks the library (-z initfirst), so the loader runs its
 * constructor before that of any other library, whatever the order on the link line, and before the program's, and the
 * C library has no thread then. The mark works for every program that is linked with the shared library: by the wrappers,
 * pkg-config, CMake or by hand, with any linker, since it is the loader that reads it. It costs nothing, but the C library's
 * own constructor has not run either: `environ` is not set yet, and nothing here allocates memory. The alternative, an entry of
 * .preinit_array, would have to stand in the program itself, so it would serve only those who link by our wrappers. A loader
 * takes one library so marked; no other is known since glibc 2.34, which has no libpthread of its own any more.
 *
 * In a program with liblateral.a the constructor is the first of the program, by its priority, but comes after those of
 * shared libraries. If these have started threads, the globals stay private, with a line at the call that needs them. */
#include "uccs/core/globals.h"

#include "base/env.h"
#include "base/file.h"
#include "rte/rte.h"
#include "uccs/core/fork.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the layers of LATERAL_CHECK, LATERAL_STATS and LATERAL_TRACE ---- */

#define LIBRARY "liblateral.so"
#define OURS 1024 /* most entries of an environment that is copied */

/* In the order in which they stand before the library; races are looked for without the others. */
static const struct {
    enum env_id id;
    const char *variable, *file;
} layers[] = {{ENV_CHECK, "LATERAL_CHECK", "liblateral-race.so"},
              {ENV_STATS, "LATERAL_STATS", "liblateral-stats.so"},
              {ENV_TRACE, "LATERAL_TRACE", "liblateral-stats.so"},
              {ENV_CHECK, "LATERAL_CHECK", "liblateral-check.so"}};
enum { LAYERS = sizeof layers / sizeof *layers };

static bool is_wanted(size_t i)
{
    const char *text = env_text(layers[i].id);
    const bool race = strcmp(env_text(ENV_CHECK), "race") == 0;
    if (layers[i].id == ENV_TRACE ? !*text : !env_flag(layers[i].id))
        return false;
    return (strstr(layers[i].file, "race") != NULL) == race;
}

static bool is_preloaded(const char *file)
{
    const char *list = getenv("LD_PRELOAD");
    return list && strstr(list, file);
}

static bool is_missing(size_t i)
{
    return is_wanted(i) && !is_preloaded(layers[i].file);
}

static bool misses_some(void)
{
    size_t i = 0;
    while (i < LAYERS && !is_missing(i))
        i++;
    return i < LAYERS;
}

/* Writes LD_PRELOAD= with the files of all layers that are missing, which lie beside the library, before what it names now. Returns
 * false when a file is not there. */
static bool name_files(char *text, size_t room)
{
    Dl_info self;
    char file[PATH_MAX];
    const char *had = getenv("LD_PRELOAD"), *slash;
    size_t used = (size_t)snprintf(text, room, "LD_PRELOAD=");
    const size_t begin = used;
    if (!dladdr(layers, &self) || !(slash = strrchr(self.dli_fname, '/')) ||
        strncmp(slash + 1, LIBRARY, strlen(LIBRARY)) != 0)
        return false; /* a part of the program, which no layer can stand before */
    for (size_t i = 0; i < LAYERS; i++) {
        if (!is_missing(i) || strstr(text, layers[i].file))
            continue;
        snprintf(file, sizeof file, "%.*s/%s", (int)(slash - self.dli_fname), self.dli_fname, layers[i].file);
        if (strpbrk(file, " :") || access(file, R_OK) != 0)
            return false;
        used += (size_t)snprintf(text + used, room - used, "%s%s", used > begin ? ":" : "", file);
        if (used >= room)
            return false;
    }
    if (had && *had)
        used += (size_t)snprintf(text + used, room - used, ":%s", had);
    return used < room;
}

/* Executes the program again when it wants a layer that is not preloaded. Only at the start of the process, when neither the
 * program nor the C library has run. Returns when there is nothing to do, or when it cannot. */
static void uccs_layers_load(char **argv)
{
    static char preload[4 * PATH_MAX], sanitizer[256];
    static char *list[OURS + 3];
    struct image image;
    const char *asan = getenv("ASAN_OPTIONS");
    size_t count = 0;
    if (!misses_some())
        return;
    while (environ[count])
        count++;
    /* Not started by the loader as a command, and not under valgrind, which would lose the process. */
    if (count > OURS || !getauxval(AT_BASE) || is_preloaded("vgpreload") || image_find(&image, LIBRARY ".1") ||
        !name_files(preload, sizeof preload))
        return;
    snprintf(sanitizer, sizeof sanitizer, "ASAN_OPTIONS=%s%sverify_asan_link_order=0", asan ? asan : "",
             asan ? ":" : "");
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 && strncmp(environ[i], "ASAN_OPTIONS=", 13) != 0)
            list[used++] = environ[i];
    list[used++] = preload;
    list[used] = sanitizer;
    execve("/proc/self/exe", argv, list);
}

const char *uccs_layers_missing(void)
{
    static char text[256];
    if (is_wanted(0) && (env_flag(ENV_STATS) || *env_text(ENV_TRACE)))
        return "LATERAL_STATS and LATERAL_TRACE have no effect beside LATERAL_CHECK=race: run the program once with each";
    for (size_t i = 0; i < LAYERS; i++)
        if (is_missing(i)) {
            snprintf(
                text, sizeof text,
                "%s has no effect: this program is linked with liblateral.a, or has loaded liblateral.so by itself; put "
                "LD_PRELOAD=%s, with its path, in front of it",
                layers[i].variable, layers[i].file);
            return text;
        }
    return NULL;
}

#define SONAME LIBRARY ".1"
#define FIRST_FD 3 /* a program may close and open the standard ones */

static struct uccs_globals globals = {.fd = -1};
static pid_t owner; /* of the moved pages; 0: nothing has moved */
static ino_t file; /* the number of their file, which tells a descriptor that the program has closed and opened again */

/* Whether this process has an MPI. Nothing calls it. */
extern int MPI_Init(int *argc, char ***argv) __attribute__((weak));

/* Grows a file to `bytes` bytes, unless it is larger. Returns 0 or an errno value. */
static int grow_file(int fd, uint64_t bytes)
{
    return file_resize(fd, bytes) == 0 || errno == EPERM ? 0 : errno; /* sealed: others have made it larger */
}

/* Moves into the slice of this PE. Returns 0 or an errno value: ENOENT when there is none, EEXIST when another process has
 * taken it, ENOSPC when it is too small, which is so for programs of an MPMD job that are larger than the first. */
static int move_into_slice(void)
{
    int fd, index, status = 0;
    const uint64_t bytes = node_align(image_bytes(&globals.image));
    struct node *node = rte_node_ahead(&fd, &index);
    if (!node)
        return ENOENT;
    uint64_t stride = 0;
    if (atomic_cas_relaxed(&node->slice_stride, &stride, bytes))
        stride = bytes;
    const uint64_t at = node_slices_at(node->size) + (uint64_t)index * stride;
    if (bytes > stride)
        status = ENOSPC;
    else if (__atomic_exchange_n(&node->pe[index].slice_taken, 1, __ATOMIC_RELAXED))
        status = EEXIST;
    else
        status = grow_file(fd, node_slices_at(node->size) + node->size * stride);
    munmap(node, node_groups_at(node->size));
    status = status ? status : image_move(&globals.image, fd, (off_t)at);
    if (!status) {
        globals.fd = fd;
        globals.at = (off_t)at;
        globals.in_slice = true;
    }
    return status;
}

/* Moves onto a file of this process's own. Returns 0 or an errno value. */
static int move_onto_file(void)
{
    int made = memfd_create("lateral-globals", MFD_CLOEXEC), status = 0;
    int fd = made >= 0 ? fcntl(made, F_DUPFD_CLOEXEC, FIRST_FD) : -1;
    if (fd < 0)
        status = errno;
    if (made >= 0)
        close(made);
    if (!status)
        status = grow_file(fd, image_bytes(&globals.image));
    if (!status)
        status = image_move(&globals.image, fd, 0);
    if (!status) {
        globals.fd = fd;
        globals.at = 0;
        globals.in_slice = false;
    } else if (fd >= 0) {
        close(fd);
    }
    return status;
}

/* What a child of fork needs, as after init (memory.c), which replaces this guard by its own. */
static int guard_fork(void)
{
    struct uccs_fork_ranges ranges = {
        .fd = globals.fd,
        .own = {{.start = (void *)globals.image.start, .bytes = image_bytes(&globals.image), .at = globals.at}},
    };
    return uccs_fork_guard(&ranges);
}

/* Returns null, or the reason why nothing has moved. */
static const char *move_globals(void)
{
    static char text[200];
    struct stat info;
    const char *why = image_find(&globals.image, SONAME);
    if (why)
        return why;
    int status = move_into_slice();
    if (status && status != EBUSY)
        status = move_onto_file();
    if (status == EBUSY)
        return "had threads before Lateral could move its globals: a library that was loaded earlier, or that is linked "
               "beside liblateral.a, has started them; link liblateral.so, and preload no such library";
    if (!status) {
        owner = getpid();
        file = fstat(globals.fd, &info) == 0 ? info.st_ino : 0;
        status = guard_fork();
    }
    if (!status)
        return 0;
    snprintf(text, sizeof text,
             "could not move its globals onto shared pages when it was loaded (%s%s); raise the limit that forbids it",
             strerror(status), status == EFBIG ? ", ulimit -f" : "");
    return text;
}

void uccs_globals_move(void)
{
    if (owner == getpid())
        return;
    globals = (struct uccs_globals){.fd = -1};
    globals.why = move_globals();
}

/* Says nothing when the globals cannot move: a call that needs them will. A program with the rights of another user trusts no
 * descriptor of its environment. */
__attribute__((constructor(101))) static void move_at_load(int argc, char **argv, char **envp)
{
    const char *why;
    const bool first = !environ; /* nothing has run yet */
    (void)argc;
    if (first)
        environ = envp;
    if (getauxval(AT_SECURE) || env_load(&why) != 0)
        return;
    if (first)
        uccs_layers_load(argv);
    if (env_flag(ENV_GLOBALS) && (MPI_Init || rte_launcher_is_there()))
        uccs_globals_move();
}

static bool descriptor_is_mine(void)
{
    struct stat info;
    return fstat(globals.fd, &info) == 0 && info.st_ino == file;
}

const struct uccs_globals *uccs_globals_find(bool alone)
{
    if (owner == getpid() && !globals.in_slice && !descriptor_is_mine())
        globals.why = "has closed the descriptor that holds its globals before init: close only what it has opened";
    else if (owner != getpid() && alone)
        globals.why = image_find(&globals.image, SONAME);
    return &globals;
}

int uccs_globals_map(int pid, int fd, void *at, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    int opened = open(path, O_RDWR | O_CLOEXEC);
    if (opened < 0)
        return errno;
    void *mapped = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, opened, 0);
    int status = mapped == MAP_FAILED ? errno : 0;
    close(opened);
    return status;
}
