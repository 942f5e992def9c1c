#include "program.h"

#include "base/elf.h"
#include "message.h"
#include "needed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int complain_of_program(const struct app *app, int dir, int why)
{
    const char *name = app->argv[0];
    bool missing = why == ENOENT || why == ENOTDIR;
    if (missing && !strchr(name, '/'))
        say("program %s not found in PATH%s%s%s", name, program_refusal(dir, name) ? "" : " (did you mean ./",
            program_refusal(dir, name) ? "" : name, program_refusal(dir, name) ? "" : "?)");
    else if (missing && app->wdir && name[0] != '/')
        say("program %s not found in %s", name, app->wdir);
    else if (missing)
        say("program %s not found", name);
    else
        say("cannot execute %s: %s", name, strerror(why));
    return missing ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

int program_find(struct app *app)
{
    int dir = open(app->wdir ? app->wdir : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 && app->wdir) {
        say("--wdir %s: %s", app->wdir, strerror(errno));
        return STATUS_USAGE;
    }
    int where = dir < 0 ? AT_FDCWD : dir; /* a current directory that cannot be opened is no fault */
    int why = program_search(where, app->argv[0], &app->path);
    int status = why ? complain_of_program(app, where, why) : 0;
    if (dir >= 0)
        close(dir);
    return status;
}

/* The first row that fits tells: an OpenSHMEM may itself stand on an MPI. */
static const struct row {
    const char *front, *library, *launcher;
} rows[] = {
    {"liboshmem.so", "Open MPI's OpenSHMEM", "Open MPI's oshrun"},
    {"libsma.so", "another OpenSHMEM", "the oshrun or srun of that library"},
    {"libshmem.so", "another OpenSHMEM", "the launcher of that library"},
    {"libmpi.so.40", "Open MPI", "Open MPI's mpirun"},
    {"libmpich.so", "MPICH", "MPICH's mpiexec.hydra"},
    {"libmpi.so.12", "MPICH or one of its kind", "its mpiexec"},
    {"libmpi_cray.so", "Cray's MPICH", "srun"},
    {"libmpi_abi.so", "an MPI", "its mpiexec"},
    {"libmpi.so", "an MPI", "its mpirun"},
};
enum { ROWS = sizeof rows / sizeof *rows };

struct found {
    size_t row; /* ROWS: none */
    char name[128];
};

/* Returns true when the library is Lateral: then the program is in the right place. */
static bool note_library(const char *name, const char *path, void *state)
{
    struct found *found = state;
    (void)path;
    for (size_t i = 0; i < found->row; i++)
        if (strncmp(name, rows[i].front, strlen(rows[i].front)) == 0) {
            found->row = i;
            snprintf(found->name, sizeof found->name, "%s", name);
        }
    return strncmp(name, "liblateral", 10) == 0;
}

/* Returns null where the program is not known here: other hosts look for it in their own PATH. */
static const char *path_of(const struct app *app)
{
    const char *path = app->path ? app->path : strchr(app->argv[0], '/') ? app->argv[0] : NULL;
    return path && (!app->wdir || *path == '/') ? path : NULL;
}

static void look_at(const struct app *app, const char *path)
{
    struct found found = {.row = ROWS};
    bool ours;
    if (elf_needs(elf_open(path), "liblateral.so")) /* spares most programs the dynamic linker */
        return;
    if (needed_walk(path, note_library, &found, &ours) != NEEDED_DYNAMIC || ours || found.row == ROWS)
        return;
    const struct row *row = &rows[found.row];
    const bool mpi = strncmp(row->front, "libmpi", 6) == 0;
    say("%s is linked with %s (%s) and not with Lateral: each process is a job of one; start it with %s%s%s",
        app->argv[0], found.name, row->library, row->launcher,
        mpi ? ", with lateral-mpi before it for Lateral's windows" : "",
        mpi ? "" : ", or build it with Lateral's oshcc");
}

void foreign_warn(const struct options *options)
{
    for (size_t i = 0; options->pes > 1 && !options->quiet && i < options->napps; i++) {
        const char *path = path_of(&options->apps[i]);
        if (path)
            look_at(&options->apps[i], path);
    }
}
