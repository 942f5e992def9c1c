/* The threads of a process, as the layer's faults.c finds them below /proc, made up: up to three others, and this one. */
#ifndef MPI_TEST_RUNNING_THREADS_H
#define MPI_TEST_RUNNING_THREADS_H

#include <sys/mman.h>
#include <sys/syscall.h>

enum { MYSELF = 3 };
static char thread_text[MYSELF + 1][200];
static int threads_told, threads_at, open_files;
static bool tasks_hidden;
static struct dirent entry_told;

static int fake_open(const char *name, int flags)
{
    int which, file;
    CHECK(flags == (O_RDONLY | O_CLOEXEC));
    if (sscanf(name, "/proc/self/task/%d/status", &which) != 1)
        return -1;
    const char *text = thread_text[which];
    file = memfd_create("status", 0);
    CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && lseek(file, 0, SEEK_SET) == 0);
    open_files++;
    return file;
}

static int fake_close(int file)
{
    open_files--;
    return close(file);
}

static int fake_access(const char *name, int how)
{
    CHECK(strcmp(name, "/proc/self/task") == 0 && how == F_OK);
    return tasks_hidden ? -1 : 0;
}

static DIR *fake_opendir(const char *name)
{
    CHECK(strcmp(name, "/proc/self/task") == 0);
    threads_at = -2;
    open_files += !tasks_hidden;
    return tasks_hidden ? 0 : (DIR *)thread_text;
}

/* The folder itself and the one above it, this thread, and the others. */
static struct dirent *fake_readdir(DIR *folder)
{
    CHECK(folder == (DIR *)thread_text);
    const int at = threads_at++;
    if (at > threads_told)
        return 0;
    if (at < 0)
        snprintf(entry_told.d_name, sizeof entry_told.d_name, "%s", at == -2 ? "." : "..");
    else
        snprintf(entry_told.d_name, sizeof entry_told.d_name, "%d", at == 0 ? MYSELF : at - 1);
    return &entry_told;
}

static int fake_closedir(DIR *folder)
{
    CHECK(folder == (DIR *)thread_text);
    open_files--;
    return 0;
}

#define open fake_open
#define close fake_close
#define access fake_access
#define opendir fake_opendir
#define readdir fake_readdir
#define closedir fake_closedir
#define syscall(number) ((number) == SYS_gettid ? MYSELF : -1)
#include "../../src/mpi/faults.c"
#undef syscall
#undef closedir
#undef readdir
#undef opendir
#undef access
#undef close
#undef open

#endif
