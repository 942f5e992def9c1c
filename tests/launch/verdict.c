/* The PEs of a made-up job: how they start, what each end of a PE means for the job, and the one line that tells of
 * it. The calls of the kernel and the rest of the launcher are stand-ins (pretended.h).
 * flags: -D_GNU_SOURCE */
#include "pretended.h"

#include "job.c"

#undef calloc
#undef kill

static int prepare(void)
{
    made = 0;
    drop_job();
    return job_prepare(&job, &options, &signals);
}

enum { EXITS = 256 }; /* times the exit status */

static void dies(uint32_t pe, int status)
{
    deaths[ndeaths++] = (struct death){500 + (pid_t)pe, status};
    job_reap(&job);
    CHECK(ndeaths == 0);
}

#define ENDS(a, b, c, d)                                                                                       \
    "kill " #a " 15\nkill " #b " 15\nkill " #c " 15\nkill " #d " 15\nkill " #a " 18\nkill " #b " 18\nkill " #c \
    " 18\nkill " #d " 18\n"

/* ---- before the first PE ---- */

static void test_prepare(void)
{
    make_job();
    CHECK(job.options == &options && job.signals == &signals && strcmp(job.score, "300") == 0 && made == 2);
    CHECK(made_of[0] == &apps[0] && made_of[1] == &apps[1] && layers_held == 0);
    CHECK(job.environments[0] == environments[0] && job.environments[1] == environments[1]);
    CHECK(job.segment.node == node && !job.ending && job.status == 0);
    CHECK(numbers_room >= (PIDS + 1) * sizeof *job.pe_of); /* the highest number of a process is PIDS */
    segment_fails = -1;
    CHECK(prepare() == STATUS_FAILED);
    segment_fails = 0;
    layer_is_there = false;
    CHECK(prepare() == STATUS_FAILED && layers_held == 0 && made == 0);
    layer_is_there = true;
}

static void test_file_limit(void)
{
    const char *line =
        "oshrun: 5 PEs need 142 open files, the limit is 141: raise it (ulimit -Hn) or start fewer PEs\n";
    make_job();
    file_limit = (struct rlimit){20, 142};
    CHECK(prepare() == 0 && file_limit_set.rlim_cur == 142 && file_limit_set.rlim_max == 142);
    CHECK(job.files.rlim_cur == 20);
    file_limit.rlim_max = 141;
    CHECK(prepare() == STATUS_FAILED && made == 0);
    happens(line);
    files_of_input = 1;
    file_limit.rlim_max = 146;
    CHECK(prepare() == STATUS_FAILED);
    *happened = 0;
    file_limit.rlim_max = 147;
    CHECK(prepare() == 0);
    files_of_input = 0;
    file_limit.rlim_max = 3;
    file_limit_fails = -1; /* not known */
    CHECK(prepare() == 0);
    file_limit_fails = 0;
    file_limit = (struct rlimit){20, RLIM_INFINITY};
    CHECK(prepare() == 0 && file_limit_set.rlim_cur == RLIM_INFINITY);
    happens("");
}

static void test_start(void)
{
    make_job();
    job.started = job.alive = 2;
    options.debug = "3";
    spawned = 70002;
    job_start_next(&job);
    happens("name first 100 2 101\nspawn /bin/one in . env first args 1 files 13 23\nclose 5\nclose 13 23\n");
    options.bind_cores = true;
    job_start_next(&job);
    happens("name second 100 3 101\nspawn /bin/two in there env second args 2 files 14 24 debug on 43\n"
            "close 5\nclose 14 24\n");
    CHECK(job.started == 4 && job.alive == 4 && job.pids[2] == 70002 && job.pe_of[70002] == 3);
    CHECK(job.pids[3] == 70003 && job.pe_of[70003] == 4 && !job.ending);
    spawned = PIDS;
    job_start_next(&job);
    CHECK(job.pids[4] == PIDS && job.pe_of[PIDS] == 5 && job.started == 5);
    job.started = 4;
    *happened = 0;
    spawned = (pid_t)PIDS + 1; /* beyond every number that a kernel gives */
    job_start_next(&job);
    CHECK(job.pids[4] == spawned - 1 && job.started == 5);
    *happened = 0;
    job_report_crashes(&job);
    job_report(&job);
    happens("crashes\nreport\n");
}

/* PE 4 cannot start; why, the line, the status. */
static void fails(int why, bool is_there, const char *line, int status)
{
    char all[1024];
    make_job();
    job.started = job.alive = 4;
    spawned = -1;
    spawn_errno = why;
    there = is_there;
    job_start_next(&job);
    snprintf(all, sizeof all, "%s%s\n%s",
             "name second 100 4 101\nspawn /bin/two in there env second args 2 files 15 25\n"
             "close 5\nclose 15 25\n",
             line, ENDS(500, 501, 502, 503));
    happens(all);
    CHECK(job.ending && job.status == status && job.started == 4 && job.alive == 4);
}

static void test_no_start(void)
{
    const char *cannot = "oshrun: cannot start PE 4 (/bin/two): ";
    char line[256];
    fails(ENOENT, true, "oshrun: cannot execute /bin/two: its interpreter is missing", 127);
    fails(ENOTDIR, true, "oshrun: cannot execute /bin/two: its interpreter is missing", 127);
    static const struct {
        int why;
        const char *words;
        int status;
    } rows[] = {{ENOENT, "No such file or directory", 127},
                {ENOTDIR, "Not a directory", 127},
                {EACCES, "Permission denied", 126},
                {ENOEXEC, "Exec format error", 126},
                {ELIBBAD, "Accessing a corrupted shared library", 126},
                {EINVAL, "Invalid argument", 126},
                {EPERM, "Operation not permitted", 1},
                {EAGAIN, "Resource temporarily unavailable (limit of processes, ulimit -u?)", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(line, sizeof line, "%s%s", cannot, rows[i].words);
        fails(rows[i].why, false, line, rows[i].status);
    }
    make_job();
    job.started = 4;
    output_fails = true;
    job_start_next(&job);
    output_fails = false;
    happens(
        "name second 100 4 101\noshrun: cannot start PE 4 (/bin/two): Too many open files\n" ENDS(500, 501, 502, 503));
    make_job();
    job.started = 4;
    in_of_pe = -1;
    job_start_next(&job);
    in_of_pe = 5;
    happens("name second 100 4 101\nclose -1\nclose 15 25\n"
            "oshrun: cannot start PE 4 (/bin/two): Too many open files in system\n" ENDS(500, 501, 502, 503));
}

/* ---- ends ---- */

static void test_good_ends(void)
{
    make_job();
    node->pe[0].state = node->pe[4].state = NODE_FINALISED;
    dies(0, 0);
    CHECK(job.alive == 4 && job.pids[0] == 0 && job.pe_of[500] == 0 && !job.deserted && !job.ending);
    dies(4, 0);
    CHECK(job.alive == 3 && job.pids[4] == 0 && !job.deserted && !job.ending && job.status == 0);
    node->pe[1].state = NODE_STARTED;
    dies(1, 0);
    CHECK(job.deserted && !job.ending);
    deaths[ndeaths++] = (struct death){77, 9}; /* nobody that this job knows */
    deaths[ndeaths++] = (struct death){(pid_t)PIDS + 1, 9};
    deaths[ndeaths++] = (struct death){500, 9}; /* the number of a PE that has ended */
    deaths[ndeaths++] = (struct death){500 + 65536, 9};
    job.pe_of[503 + 65536] = 4; /* another process of the number that wraps to PE 3's */
    deaths[ndeaths++] = (struct death){503 + 65536, 9};
    job_reap(&job);
    CHECK(ndeaths == 0 && job.alive == 2 && job.pids[3] == 503);
    happens("");
}

/* PE 3 ends so, from this state; what happens, the status of the job, and whether it is ending. */
static void ends(enum node_state state, int status, const char *line, int of_job)
{
    char all[1024];
    const bool goes_on = of_job < 0;
    node->pe[3].state = state;
    dies(3, status);
    snprintf(all, sizeof all, "%s%s", line, goes_on ? "" : ENDS(500, 501, 502, 504));
    happens(all);
    CHECK(job.ending == !goes_on && job.status == (goes_on ? -of_job - 1 : of_job) && !job.deserted);
    CHECK(job.alive == 4 && job.kill_at == (goes_on ? 0 : clock_now + GRACE_MS));
    job_signal(&job, SIGUSR1); /* not to PE 3 any more */
    happens("kill 500 10\nkill 501 10\nkill 502 10\nkill 504 10\n");
    make_job();
}

static void test_bad_ends(void)
{
    const char *early =
        "oshrun: PE 3 (pid 503, two) exited without shmem_finalize or uccs_finalize; the others would wait\n";
    const char *seven = "oshrun: PE 3 (pid 503, two) exited with status 7\n";
    const char *fault = "oshrun: PE 3 (pid 503, two) was killed by signal 11 (Segmentation fault)\n";
    const char *core = "oshrun: PE 3 (pid 503, two) was killed by signal 11 (Segmentation fault, core dumped)\n";
    make_job();
    ends(NODE_RUNNING, 0, early, 1);
    ends(NODE_RUNNING, 7 * EXITS, seven, 7);
    ends(NODE_STARTED, 7 * EXITS, seven, 7);
    ends(NODE_FINALISED, 7 * EXITS, seven, -8); /* nobody waits for it */
    ends(NODE_FINALISED, SIGSEGV, fault, 139);
    ends(NODE_STARTED, SIGSEGV, fault, 139);
    ends(NODE_RUNNING, SIGSEGV | 0x80, core, 139);
    options.quiet = true;
    ends(NODE_RUNNING, 7 * EXITS, "", 7);
    ends(NODE_RUNNING, SIGPIPE, "oshrun: PE 3 (pid 503, two) was killed by signal 13 (Broken pipe)\n", 141);
    files_of_output = 0; /* it writes to the pipe itself */
    ends(NODE_RUNNING, SIGPIPE, "", 141);
    ends(NODE_RUNNING, SIGSEGV, fault, 139);
    ends(NODE_RUNNING, SIGPIPE * EXITS, "oshrun: PE 3 (pid 503, two) exited with status 13\n", 13);
    files_of_output = 2;
}

static void test_memory_ends(void)
{
    const char *out =
        "oshrun: memory ran out: the kernel killed PE 3 (pid 503, two), which held 3145728 bytes; nobody's\n";
    make_job();
    out_of_memory = "nobody's";
    ends(NODE_RUNNING, SIGKILL, out, 137);
    out_of_memory = "nobody's";
    ends(NODE_RUNNING, 137 * EXITS, out, 137); /* a script tells of its program */
    out_of_memory = "nobody's";
    ends(NODE_RUNNING, SIGTERM, "oshrun: PE 3 (pid 503, two) was killed by signal 15 (Terminated)\n", 143);
    out_of_memory = "nobody's";
    ends(NODE_RUNNING, 9 * EXITS, "oshrun: PE 3 (pid 503, two) exited with status 9\n", 9);
    ends(NODE_RUNNING, SIGKILL, "oshrun: PE 3 (pid 503, two) was killed by signal 9 (Killed)\n", 137);
    ends(NODE_RUNNING, 137 * EXITS, "oshrun: PE 3 (pid 503, two) exited with status 137\n", 137);
}

/* The first reason decides. */
static void test_first_reason(void)
{
    make_job();
    node->pe[0].state = node->pe[1].state = NODE_FINALISED;
    dies(0, 5 * EXITS);
    dies(1, 6 * EXITS);
    CHECK(job.status == 5 && !job.ending);
    dies(2, 7 * EXITS);
    CHECK(job.status == 5 && job.ending);
    *happened = 0;
    clock_now = 2000;
    dies(3, SIGSEGV); /* as asked, or not: silent */
    job_end(&job, 9);
    happens("");
    CHECK(job.status == 5 && job.alive == 1 && job.kill_at == 1000 + GRACE_MS);
    job_kill(&job);
    happens("kill 504 9\n");
    CHECK(job.kill_at == 0);
    clock_now = 1000;
}

/* A PE has said in the node's memory how the job ends. */
static void claims(uint32_t ending, int status, bool quiet, int pe_status, const char *line, int of_job)
{
    make_job();
    options.quiet = quiet;
    node->ending = ending;
    node->end_status = status;
    node->end_pe = 2;
    dies(3, pe_status);
    char all[512];
    snprintf(all, sizeof all, "%s%s", line, ENDS(500, 501, 502, 504));
    happens(all);
    CHECK(job.ending && job.status == of_job);
}

static void test_ended_from_inside(void)
{
    claims(NODE_GLOBAL_EXIT, 5, false, 5 * EXITS, "", 5);
    claims(NODE_GLOBAL_EXIT, 256 + 5, false, 0, "", 5);
    claims(NODE_GLOBAL_EXIT, -1, false, SIGSEGV, "", 255);
    claims(NODE_GLOBAL_EXIT, 0, false, 3 * EXITS, "", 0);
    claims(NODE_ABORTED, 6, false, 6 * EXITS, "oshrun: job ended by PE 2\n", 6);
    claims(NODE_ABORTED, 6, true, 6 * EXITS, "", 6);
    const char *seven = "oshrun: PE 3 (pid 503, two) exited with status 7\n";
    claims(NODE_ENDING_CLAIMED, 6, false, 7 * EXITS, seven, 7); /* it has not said all */
    claims(NODE_GOES_ON, 6, false, 7 * EXITS, seven, 7);
    claims(NODE_GLOBAL_EXIT | 1u << 16, 6, false, 7 * EXITS, seven, 7);
}

/* ---- PEs that leave without a word ---- */

static void deserted(const char *line)
{
    char all[512];
    job_check_deserted(&job);
    snprintf(all, sizeof all, "%s%s", line, *line ? ENDS(500, 501, 502, 504) : "");
    happens(all);
    CHECK(job.ending == (*line != 0) && job.status == (*line != 0));
}

static void test_deserted(void)
{
    make_job();
    for (int pe = 0; pe < 5; pe++)
        node->pe[pe].state = NODE_STARTED;
    deserted(""); /* all run */
    dies(3, 0);
    CHECK(job.deserted);
    deserted(""); /* nobody waits */
    node->arrived = UINT64_C(7) << 32;
    deserted(""); /* the round is no PE */
    node->pe[4].state = NODE_RUNNING;
    job.deserted = false;
    deserted("");
    job.deserted = true;
    job.ending = true;
    job_check_deserted(&job);
    happens("");
    job.ending = false;
    deserted("oshrun: PE 3 (two) exited without shmem_init or uccs_init; the others would wait\n");
    make_job();
    node->pe[3].state = NODE_STARTED;
    dies(3, 0);
    options.quiet = true;
    job_check_deserted(&job);
    happens(ENDS(500, 501, 502, 504));
    CHECK(job.ending && job.status == 1);
    make_job();
    node->pe[0].state = NODE_STARTED; /* still runs */
    job.deserted = true;
    deserted("");
    job.pids[1] = 0; /* was in the library */
    deserted("");
    job.pids[1] = 501;
    for (int pe = 0; pe < 5; pe++)
        node->pe[pe].state = NODE_STARTED;
    dies(3, 0);
    node->arrived = 1;
    deserted("oshrun: PE 3 (two) exited without shmem_init or uccs_init; the others would wait\n");
}

/* ---- PEs that stop; reports ---- */

static void test_stops(void)
{
    make_job();
    options.debug = "3";
    dies(3, SIGTRAP << 8 | 0x7f);
    happens("offer PE 3 503\n");
    dies(3, SIGSTOP << 8 | 0x7f);
    happens("let 503 go\n");
    dies(2, SIGTRAP << 8 | 0x7f);
    happens("let 502 go\n");
    deaths[ndeaths++] = (struct death){(pid_t)PIDS + 1, SIGTRAP << 8 | 0x7f};
    deaths[ndeaths++] = (struct death){65536 + 503, SIGTRAP << 8 | 0x7f};
    job_reap(&job);
    happens("let 4194305 go\nlet 66039 go\n");
    CHECK(job.alive == 5 && !job.ending);
}

static void test_reports(void)
{
    struct deadlock deadlock = {0};
    make_job();
    job_report(&job);
    job_report_crashes(&job);
    options.stacks = options.quiet = true;
    job_report(&job);
    job_report_crashes(&job);
    happens("report\ncrashes\nreport\nstacks\n");
    CHECK(job_stuck(&job, &deadlock) == 2.5);
    job.started = 4;
    CHECK(job_stuck(&job, &deadlock) == 0);
}

int main(void)
{
    say_through(keep_line);
    test_prepare();
    test_file_limit();
    test_start();
    test_no_start();
    test_good_ends();
    test_bad_ends();
    test_memory_ends();
    test_first_reason();
    test_ended_from_inside();
    test_deserted();
    test_stops();
    test_reports();
    drop_job();
    free(node);
    return 0;
}
