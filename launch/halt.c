#include "halt.h"

#include "base/symbolizer.h"
#include "unwind.h"

#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#define FRAMES 64
#define TRIES 8        /* callers whose line is looked up */
#define HALT_LOOKS 200 /* of a millisecond each: a process in the kernel may not halt at once */

/* Waits until the process has halted. A process that ends meanwhile stays for its parent to reap. */
static bool await_halt(pid_t pid)
{
    for (int i = 0; i < HALT_LOOKS; i++) {
        siginfo_t info = {0};
        struct timespec pause = {0, 1000000};
        if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) != 0)
            return false;
        if (info.si_pid == pid && (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED))
            return waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | __WALL) == 0;
        if (info.si_pid == pid)
            return false;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* Files of the system that a program calls into: where it sleeps or reads is not where it has come from. */
static bool is_of_system(struct code_place place)
{
    static const char *const fronts[] = {"liblateral", "libc.so",      "libc-",       "ld-",      "libpthread",
                                         "librt",      "libstdc++.so", "libgcc_s.so", "libc++.so"};
    const char *slash = place.elf ? strrchr(place.elf->path, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof fronts / sizeof *fronts; i++)
        if (strncmp(slash + 1, fronts[i], strlen(fronts[i])) == 0)
            return true;
    return !place.elf; /* code of the kernel that is mapped */
}

/* Writes the source line of the innermost caller that has one, outside of the system's files; else the innermost caller; else
 * where the process is. */
static void write_caller(struct unwind *unwind, const struct maps *maps, char *text, size_t room)
{
    struct code_place first = code_place_of(maps, unwind->counter + 1), outside = {0};
    int tries = 0;
    for (int depth = 0; depth < FRAMES && tries < TRIES; depth++) {
        /* A line is looked up before a return address; the first is none. */
        struct code_place place = code_place_of(maps, unwind->counter + (depth == 0));
        if (!is_of_system(place)) {
            outside = outside.elf ? outside : place;
            tries++;
            if (symbolizer_line(place.elf->path, place.address - 1, text, room))
                return;
        }
        if (!unwind_step(unwind, maps, depth == 0))
            break;
    }
    place_line(outside.elf ? outside : first, text, room);
}

void halt_where(pid_t pid, char *text, size_t room)
{
    static struct unwind unwind; /* large */
    text[0] = 0;
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) != 0)
        return;
    bool halted = ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0 && await_halt(pid);
    bool read = halted && unwind_read(&unwind, pid);
    ptrace(PTRACE_DETACH, pid, NULL,
           NULL); /* fails only when it has not halted; the end of this process detaches too */
    if (!read)
        return;
    struct maps maps;
    maps_read(&maps, pid);
    write_caller(&unwind, &maps, text, room);
    maps_free(&maps);
}
