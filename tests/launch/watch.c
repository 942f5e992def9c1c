/* The guard of a made-up job: which signals it takes and from whom, time limits, deadlocks, broken output, the
 * order of the end, and for how long it may sleep. The clock, the kernel and the rest of the launcher are stand-ins
 * (watched.h).
 * flags: -D_GNU_SOURCE */
#include "watched.h"

#include "guard.c"
#undef sigaction
#undef exit
#undef _exit

/* ---- runs ---- */

static struct options options;
static const sigset_t mask;

/* What the guard does up to its end. */
static void runs(void (*turn_by_turn)(int), const char *wanted)
{
    each_turn = turn_by_turn;
    turns = ticks = desertions = 0;
    clock_now = BASE;
    timeout_at = deadlock_at = drain_until = 0;
    if (!setjmp(over))
        guard_run(&options, FRONT, &mask, OSHRUN);
    happens(wanted);
    each_turn = NULL;
}

#define FIRST "prctl 1 18\nprctl 36 1\n"
#define OPEN FIRST "watch 9\nwatch 8\n"
#define BEGIN OPEN "outputs\nprepare\n"

static void arrives(int signal, int from)
{
    arrived[narrived++] = (struct signalfd_siginfo){.ssi_signo = (uint32_t)signal, .ssi_pid = (uint32_t)from};
}

static void all_end(void)
{
    reaped = (int)job.alive;
    arrives(SIGCHLD, 5);
    signal_watch.ready(&signal_watch);
}

static void plain(int turn)
{
    if (turn == 2)
        arrives(SIGCHLD, 5), reaped = 1, signal_watch.ready(&signal_watch), all_written = false;
    if (turn == 3)
        all_end();
    if (turn == 5)
        all_written = true;
}

static void test_plain(void)
{
    options = (struct options){.pes = 2};
    runs(plain, BEGIN "start\nturn 0\nstart\nturn 0\nturn -1\nreap\nturn -1\nreap\ncrashes\nsweep 5000\n"
                      "turn -1\nturn -1\nexit 0\n");
    CHECK(ticks == 7 && desertions == 6 && front_fd == FRONT && front_pid == OSHRUN);
    CHECK(signal_watch.ready == signal_ready && front_watch.ready == front_ready);
}

static void test_no_job(void)
{
    options = (struct options){.pes = 1};
    prepared = 127;
    runs(NULL, BEGIN "exit 127\n");
    CHECK(ticks == 1);
    prepared = 0;
    input_opens = false;
    runs(NULL, OPEN "exit 1\n");
    input_opens = true;
    output_opens = false;
    runs(NULL, OPEN "outputs\nexit 1\n");
    output_opens = true;
    signal_file = -1;
    runs(NULL, FIRST "oshrun: cannot watch the job: Invalid argument\nexit 1\n");
    signal_file = SIGNALS;
    epoll_opens = false;
    runs(NULL, FIRST "oshrun: cannot watch the job: Too many open files\nexit 1\n");
    epoll_opens = true;
    failing_add = FRONT;
    runs(NULL, OPEN "oshrun: cannot watch the job: No space left on device\nexit 1\n");
    failing_add = SIGNALS;
    runs(NULL, FIRST "watch 9\noshrun: cannot watch the job: No space left on device\nexit 1\n");
    failing_add = -1;
}

static void slow_end(int turn)
{
    if (turn == 2)
        clock_now += 499;
    if (turn == 3)
        clock_now += 1;
    if (turn == 4)
        all_end();
}

static void test_start_fails(void)
{
    options = (struct options){.pes = 3};
    failing_pe = 1;
    runs(slow_end, BEGIN "start\nturn 0\nstart\nend 126\nturn 0\nturn 500\nturn 1\nkill\nturn -1\nreap\n"
                         "crashes\nsweep 5000\nexit 126\n");
    failing_pe = -1;
}

/* ---- limits ---- */

static void late(int turn)
{
    if (turn == 1)
        clock_now = BASE + 1500;
    if (turn == 2)
        clock_now = BASE + 1501;
    if (turn == 3)
        all_end(), all_written = false;
    if (turn == 4)
        clock_now = BASE + 2001; /* the reader of the output has had its time */
}

static void early(int turn)
{
    if (turn == 1)
        all_end(), all_written = false;
    if (turn == 2)
        clock_now = BASE + 1501; /* the PEs have ended before */
    if (turn == 3)
        clock_now = BASE + 2000;
    if (turn == 4)
        clock_now = BASE + 2001;
}

static void test_timeout(void)
{
    options = (struct options){.pes = 1, .timeout = 1.5};
    runs(late,
         BEGIN "start\nturn 0\nturn 1501\nturn 1\noshrun: time limit of 1.5 s reached (--timeout); where the PEs are:\n"
               "report\nend 124\nturn 500\nreap\ncrashes\nsweep 5000\nturn 500\nkill\nexit 124\n");
    runs(early, BEGIN "start\nturn 0\nturn 1501\nreap\ncrashes\nsweep 5000\nturn 1501\nturn 500\nturn 1\nexit 0\n");
    all_written = true;
}

static void stuck(int turn)
{
    clock_now += turn == 0 ? 0 : turn == 1 ? 199 : turn == 2 ? 1 : 200;
    stuck_for = turn < 3 ? 1.99 : 2;
    if (turn == 6)
        all_end(), all_written = false;
    if (turn == 8)
        all_written = true;
}

static void long_output(int turn)
{
    clock_now += turn > 1 ? 1000 : 0; /* nobody looks any more whether the PEs are stuck */
    if (turn == 1)
        all_end(), all_written = false;
    if (turn == 3)
        all_written = true;
}

static void test_deadlock(void)
{
    options = (struct options){.pes = 1, .deadlock = 2};
    runs(stuck,
         BEGIN "start\nturn 0\nturn 200\nturn 1\nlook\nturn 200\nlook\n"
               "oshrun: deadlock for 2.0 s (--deadlock): no PE will ever go on; where the PEs are:\nreport\nend 1\n"
               "turn 200\nturn 200\nturn 100\nreap\nkill\ncrashes\nsweep 5000\nexit 1\n");
    runs(long_output, BEGIN "start\nturn 0\nturn 200\nreap\ncrashes\nsweep 5000\nturn -1\nturn -1\nexit 0\n");
    all_written = true;
}

/* ---- signals ---- */

/* One signal from this process, or two; what happens. */
static void comes(int signal, int from, bool ending, bool quiet, const char *wanted)
{
    options = (struct options){.pes = 1, .quiet = quiet};
    job = (struct job){.options = &options, .alive = 1, .ending = ending};
    drain_until = 0;
    clock_now = BASE;
    arrives(signal, from);
    signal_ready(&signal_watch);
    happens(wanted);
    CHECK(narrived == 0 && job.ending == (ending || strstr(wanted, "end")));
    CHECK(drain_until == (strstr(wanted, "end") ? BASE + 500 : 0));
}

static void test_ending_signals(void)
{
    front_pid = OSHRUN;
    for (int from = OSHRUN; from <= OSHRUN + 1; from++) { /* from any process */
        comes(SIGINT, from, false, false, "end 130\n");
        comes(SIGTERM, from, false, false, "oshrun: job ended by signal 15 (Terminated)\nend 143\n");
        comes(SIGHUP, from, false, false, "oshrun: job ended by signal 1 (Hangup)\nend 129\n");
        comes(SIGQUIT, from, false, false,
              "oshrun: job ended by signal 3 (Quit); where the PEs were:\nreport\nend 131\n");
        comes(SIGCHLD, from, false, false, "reap\n");
    }
    comes(SIGTERM, OSHRUN, false, true, "end 143\n");
    comes(SIGQUIT, OSHRUN, false, true, "end 131\n");
    comes(SIGTERM, OSHRUN, true, false, "end 143\n");
    comes(SIGQUIT, OSHRUN, true, false, "end 131\n");
}

static void test_other_signals(void)
{
    front_pid = OSHRUN;
    comes(SIGUSR1, OSHRUN, false, false, "signal 10\n");
    comes(SIGUSR2, OSHRUN, false, false, "signal 12\n");
    comes(SIGCONT, OSHRUN, false, false, "signal 18\n");
    comes(SIGTSTP, OSHRUN, false, false, "signal 19\n"); /* one that no PE can catch */
    comes(SIGWINCH, OSHRUN, false, false, "");
    comes(SIGUSR1, OSHRUN + 1, false, false, "");
    comes(SIGCONT, OSHRUN + 1, false, false, "");
    comes(SIGTSTP, OSHRUN + 1, false, false, "");
    arrives(SIGUSR1, OSHRUN);
    comes(SIGUSR2, OSHRUN, false, false, "signal 10\nsignal 12\n"); /* all that have come */
}

static void test_taken_signals(void)
{
    sigset_t set;
    static const int all[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
    numbers_asked = 0;
    guard_signals(&set);
    CHECK(numbers_asked == 9 && !sigismember(&set, SIGPIPE) && !sigismember(&set, SIGWINCH));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CHECK(sigismember(&set, all[i]));
        ignored = UINT64_C(1) << all[i];
        sigset_t fewer;
        guard_signals(&fewer);
        for (size_t j = 0; j < sizeof all / sizeof *all; j++)
            CHECK(sigismember(&fewer, all[j]) == (i != j));
    }
    ignored = 0;
}

static void test_oshrun_dies(void)
{
    job = (struct job){.options = &options, .alive = 1};
    if (!setjmp(over)) {
        front_ready(&front_watch);
        note("goes on\n");
    }
    happens("kill\nsweep 5000\nexit 137\n");
}

/* ---- output that cannot be written; sleep ---- */

static void output_breaks(int why, bool ending, const char *wanted)
{
    job = (struct job){.options = &options, .alive = 1, .ending = ending};
    broken = why;
    turn(3);
    broken = 0;
    happens(wanted);
}

static void test_broken_output(void)
{
    output_breaks(0, false, "turn 3\n");
    output_breaks(EPIPE, false, "turn 3\nend 141\n");
    output_breaks(EIO, false, "turn 3\noshrun: cannot write the PEs' output: Input/output error\nend 1\n");
    output_breaks(EIO, true, "turn 3\n");
    output_breaks(EPIPE, true, "turn 3\n");
}

/* Each clock may be the next; 0: not set. Milliseconds from now. */
static void sleeps(int64_t timeout, int64_t look, int64_t kill, int64_t drain, int output, int wanted)
{
    const int64_t now = clock_now;
    timeout_at = timeout ? now + timeout : 0;
    deadlock_at = look ? now + look : 0;
    job.kill_at = kill ? now + kill : 0;
    drain_until = drain ? now + drain : 0;
    patience_of_output = output;
    const int is = patience();
    if (is != wanted)
        fprintf(stderr, "sleeps %d ms, not %d\n", is, wanted);
    CHECK(is == wanted);
    timeout_at = deadlock_at = drain_until = 0;
    patience_of_output = -1;
}

static void test_sleep(void)
{
    job = (struct job){.options = &options, .alive = 1};
    sleeps(0, 0, 0, 0, -1, -1);
    sleeps(0, 0, 0, 0, 0, 0);
    sleeps(0, 0, 0, 0, 40, 40);
    sleeps(7, 0, 0, 0, -1, 7);
    sleeps(0, 7, 0, 0, -1, 7);
    sleeps(0, 0, 7, 0, -1, 7);
    sleeps(0, 0, 0, 7, -1, -1); /* a PE runs */
    sleeps(7, 8, 9, 0, -1, 7);
    sleeps(8, 7, 9, 0, -1, 7);
    sleeps(9, 8, 7, 0, -1, 7);
    sleeps(7, 0, 0, 0, 6, 6);
    sleeps(7, 0, 0, 0, 7, 7);
    sleeps(7, 0, 0, 0, 8, 7);
    sleeps(7, 0, 0, 0, 0, 0);
    sleeps(-7, 0, 0, 0, -1, 0); /* late already */
    sleeps(-7, 0, 0, 0, 8, 0);
    sleeps(3600000, 0, 0, 0, -1, 3600000);
    sleeps(3600001, 0, 0, 0, -1, 3600000);
    sleeps((INT64_C(1) << 32) + 5, 0, 0, 0, -1, 3600000);
    job.alive = 0;
    sleeps(0, 0, 0, 7, -1, 7);
    sleeps(0, 0, 9, 7, -1, 7);
    job.deserted = true;
    sleeps(0, 0, 0, 0, -1, 200);
    sleeps(0, 0, 0, 199, -1, 199);
    sleeps(0, 0, 0, 201, -1, 200);
    job.ending = true;
    sleeps(0, 0, 0, 0, -1, -1);
}

int main(void)
{
    say_through(output_message);
    test_plain();
    test_no_job();
    test_start_fails();
    test_timeout();
    test_deadlock();
    test_ending_signals();
    test_other_signals();
    test_taken_signals();
    test_oshrun_dies();
    test_broken_output();
    test_sleep();
    return 0;
}
