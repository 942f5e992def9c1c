#include "halt.h"

#include "place.h"

#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

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

/* Returns the address of the next instruction; 0: not known on this processor. */
static uint64_t read_counter(pid_t pid)
{
    struct user_regs_struct registers;
    struct iovec io = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &io) != 0)
        return 0;
#if defined __x86_64__
    return registers.rip;
#elif defined __aarch64__
    return registers.pc;
#else
    return 0;
#endif
}

void halt_where(pid_t pid, char *text, size_t room)
{
    text[0] = 0;
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) != 0)
        return;
    bool halted = ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0 && await_halt(pid);
    uint64_t counter = halted ? read_counter(pid) : 0;
    ptrace(PTRACE_DETACH, pid, NULL,
           NULL); /* fails only when it has not halted; the end of this process detaches too */
    if (!counter)
        return;
    struct maps maps;
    maps_read(&maps, pid);
    place_line(code_place_of(&maps, counter + 1), text, room);
    maps_free(&maps);
}
