/* Globals that move when the library is loaded: only those of an MPI program that shares globals, whole or not at all; and how another
 * process of the machine maps them. */
#include "base/env.h"
#include "base/image.h"
#include "uccs/core/fork.h"

#include "unit/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 3 * 65536 };

int (*told_mpi)(int *argc, char ***argv); /* null: the program has no MPI */
static bool bad_env, no_globals, no_image, stays, no_files, no_room;
static int finds, moves, moved_to, guards;
static off_t moved_bytes;
static struct uccs_fork_ranges guarded_ranges;

static int load_env(const char **why)
{
    *why = "";
    return bad_env ? -1 : 0;
}

static bool flag_of(enum env_id id)
{
    CHECK(id == ENV_GLOBALS);
    return !no_globals;
}

static bool find_image(struct image *image, const char *soname)
{
    CHECK(strcmp(soname, "liblateral.so.1") == 0);
    finds++;
    *image = (struct image){.start = 65536, .end = 65536 + BYTES, .parts = 1};
    return !no_image;
}

static int move_image(const struct image *image, int fd, off_t at)
{
    CHECK(image->start == 65536 && at == 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    moves++;
    moved_to = fd;
    moved_bytes = lseek(fd, 0, SEEK_END);
    return stays ? EBUSY : 0;
}

static int guard_fork(const struct uccs_fork_ranges *ranges)
{
    guards++;
    guarded_ranges = *ranges;
    return 0;
}

static int make_memory(const char *name, unsigned flags)
{
    return no_files ? -1 : memfd_create(name, flags);
}

static int set_size(int fd, off_t bytes)
{
    return no_room ? -1 : ftruncate(fd, bytes);
}

#define MPI_Init (*told_mpi)
#define env_load load_env
#define env_flag flag_of
#define image_find find_image
#define image_move move_image
#define uccs_fork_guard guard_fork
#define memfd_create make_memory
#define ftruncate set_size
#include "uccs/core/early.c"
#undef memfd_create
#undef ftruncate

static int some_mpi(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

static int descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* Nothing moves, no descriptor is left, and init may try again. */
static bool nothing_moves(int found, int tried)
{
    const int before = descriptors();
    struct image image = {.why_not = "nobody has asked"};
    finds = moves = 0;
    move_at_load();
    return finds == found && moves == tried && !early.owner && descriptors() == before &&
           uccs_early_file(&image) == -1 && !image.why_not && guards == 0;
}

static void test_not_moved(void)
{
    bool *const faults[] = {&bad_env, &no_globals, &no_image, &no_files, &no_room, &stays};
    CHECK(!early.owner && guards == 0 && finds == 0); /* when this program was loaded */
    CHECK(nothing_moves(0, 0));
    told_mpi = some_mpi;
    for (int i = 0; i < 6; i++) {
        *faults[i] = true;
        CHECK(nothing_moves(i > 1, i == 5));
        *faults[i] = false;
    }
    bad_env = no_globals = true;
    CHECK(nothing_moves(0, 0));
    bad_env = no_globals = false;
}

static void test_moved(void)
{
    struct image image = {0};
    CHECK(fcntl(0, F_GETFD) >= 0 || open("/dev/null", O_RDONLY) == 0);
    const int before = descriptors();
    close(0); /* as in a program without a standard input: the file does not take its place */
    move_at_load();
    CHECK(descriptors() == before && fcntl(0, F_GETFD) < 0);
    CHECK(moves == 1 && moved_to >= 3 && moved_bytes == BYTES && early.owner == getpid() && guards == 1);
    CHECK(guarded_ranges.fd == moved_to && guarded_ranges.own[0].start == (void *)65536 && !guarded_ranges.shared);
    CHECK(guarded_ranges.own[0].bytes == BYTES && guarded_ranges.own[0].at == 0 && !guarded_ranges.own[1].start);
    image.why_not = "nobody has asked";
    CHECK(uccs_early_file(&image) == moved_to && image.start == 65536 && image.end == 65536 + BYTES && !image.why_not);
    early.owner++; /* this is another process, as it were */
    image = (struct image){0};
    CHECK(uccs_early_file(&image) == -1 && image.why_not && strstr(image.why_not, "forked child") && !image.start);
    early.owner--;
}

static void test_mapped(void)
{
    char *at = mmap(NULL, BYTES + 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), byte = 0;
    CHECK(at != MAP_FAILED);
    const int before = descriptors();
    CHECK(uccs_early_map(getpid(), moved_to, at, BYTES) == 0 && descriptors() == before);
    at[7] = 'g';
    at[BYTES - 1] = 'h';
    CHECK(pread(moved_to, &byte, 1, 7) == 1 && byte == 'g' && pread(moved_to, &byte, 1, BYTES - 1) == 1 && byte == 'h');
    CHECK(uccs_early_map(getpid(), 255, at, BYTES) == ENOENT &&
          uccs_early_map(0x7ffffff0, moved_to, at, BYTES) == ENOENT);
    CHECK(uccs_early_map(getpid(), moved_to, at, 0) == EINVAL && descriptors() == before && at[7] == 'g');
    munmap(at, BYTES + 65536);
}

int main(void)
{
    test_not_moved();
    test_moved();
    test_mapped();
    close(moved_to);
    return 0;
}
