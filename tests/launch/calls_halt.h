/* How one process is halted to look where it is (calls.c). */
#ifndef TESTS_LAUNCH_CALLS_HALT_H
#define TESTS_LAUNCH_CALLS_HALT_H

static int refused = -1; /* the request that fails */
static uint64_t counter = 0x555500001000;
static int pauses;

static long trace(int request, pid_t pid, void *kind, void *data)
{
    CHECK(pid == 50);
    note("%s\n", request == (int)PTRACE_SEIZE       ? "seize"
                 : request == (int)PTRACE_INTERRUPT ? "interrupt"
                 : request == (int)PTRACE_GETREGSET ? "registers"
                 : request == (int)PTRACE_DETACH    ? "detach"
                                                    : "?");
    CHECK(request == (int)PTRACE_GETREGSET ? kind == (void *)1 : !kind && !data);
    if (request == refused)
        return -1;
#if defined __x86_64__
    if (request == (int)PTRACE_GETREGSET) {
        const struct iovec *io = data;
        CHECK(io->iov_len == sizeof(struct user_regs_struct));
        ((struct user_regs_struct *)io->iov_base)->rip = counter;
    }
#endif
    return 0;
}

static int pause_a_little(const struct timespec *time, struct timespec *rest)
{
    CHECK(time->tv_sec == 0 && time->tv_nsec == 1000000 && !rest);
    pauses++;
    return 0;
}

void maps_read(struct maps *maps, pid_t pid)
{
    *maps = (struct maps){.count = 1, .shift = (uint64_t)pid};
    note("maps of %d\n", (int)pid);
}

void maps_free(struct maps *maps)
{
    CHECK(maps->count == 1);
    note("free\n");
}

struct code_place code_place_of(const struct maps *maps, uint64_t address)
{
    CHECK(maps->shift == 50);
    return (struct code_place){NULL, address};
}

void place_line(struct code_place place, char *text, size_t room)
{
    snprintf(text, room, "at %llx", (unsigned long long)place.address);
}

#define nanosleep pause_a_little
#define ptrace trace
#include "halt.c"

/* A process that is in these states, one after the other. */
static void comes_to(int count, const int codes[][2])
{
    memset(states, 0, sizeof states);
    for (int i = 0; i < count; i++) {
        states[i].si_pid = codes[i][0];
        states[i].si_code = codes[i][1];
    }
    nstates = count;
    next_state = looks = pauses = 0;
}

#define COMES_TO(...) comes_to(sizeof((const int[][2]){__VA_ARGS__}) / sizeof(int[2]), (const int[][2]){__VA_ARGS__})

static void awaiting(void)
{
    COMES_TO({50, CLD_TRAPPED});
    CHECK(await_halt(50) && looks == 1 && pauses == 0);
    COMES_TO({0, 0}, {0, 0}, {50, CLD_STOPPED});
    CHECK(await_halt(50) && looks == 3 && pauses == 2);
    happens("reap\nreap\n");
    halts = -1; /* it goes on already */
    CHECK(!await_halt(50));
    happens("reap\n");
    halts = 0;
    COMES_TO({50, CLD_EXITED});
    CHECK(!await_halt(50) && looks == 1);
    COMES_TO({50, CLD_KILLED});
    CHECK(!await_halt(50) && looks == 1);
    happens("");
    COMES_TO({0, 0});
    CHECK(!await_halt(50) && looks == 200 && pauses == 200);
    states[0].si_errno = -1; /* no such process */
    looks = 0;
    CHECK(!await_halt(50) && looks == 1);
    happens("");
}

static void halts_at(const char *wanted, const char *place)
{
    char text[20] = "untouched";
    halt_where(50, text, sizeof text);
    happens(wanted);
    CHECK(strcmp(text, place) == 0);
}

static void halting(void)
{
    COMES_TO({50, CLD_TRAPPED});
    halts_at("seize\ninterrupt\nreap\nregisters\ndetach\nmaps of 50\nfree\n", "at 555500001001");
    counter = 0;
    halts_at("seize\ninterrupt\nreap\nregisters\ndetach\n", "");
    counter = 0x555500001000;
    refused = PTRACE_SEIZE;
    halts_at("seize\n", "");
    refused = PTRACE_INTERRUPT;
    halts_at("seize\ninterrupt\ndetach\n", "");
    refused = PTRACE_GETREGSET;
    halts_at("seize\ninterrupt\nreap\nregisters\ndetach\n", "");
    refused = PTRACE_DETACH;
    halts_at("seize\ninterrupt\nreap\nregisters\ndetach\nmaps of 50\nfree\n", "at 555500001001");
    refused = -1;
    COMES_TO({50, CLD_EXITED});
    halts_at("seize\ninterrupt\ndetach\n", "");
}

#endif
