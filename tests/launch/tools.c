/* What the launcher has of the system: the answers of tools, source lines, stacks, processors, debuggers, names of
 * variables. Stand-ins of the tools are scripts in a folder; the clock moves on with each look at it.
 * flags: -D_GNU_SOURCE */
#include "cores.h"
#include "debug.h"
#include "loop.h"
#include "message.h"
#include "options.h"
#include "spelling.h"
#include "stacks.h"
#include "symbolizer.h"
#include "tool.h"

#include "apart.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of the launcher has a spawn.h of its own. */
int posix_spawnp(pid_t *pid, const char *file, const void *actions, const void *attributes, char *const argv[],
                 char *const envp[]);

static int64_t clock_now = INT64_C(1) << 33;
static int looks, last_look; /* the time is over at the last one */

int64_t loop_now(void)
{
    return clock_now += ++looks == last_look ? 1 << 30 : 10;
}

/* ---- a machine with some processors ---- */

static int allowed[] = {0, 1, 2, 5, 7, 8000, -1};
static bool all_fails;

static int get_allowed(cpu_set_t *set, size_t bytes)
{
    for (int i = 0; allowed[i] >= 0; i++)
        CPU_SET_S((size_t)allowed[i], bytes, set);
    return all_fails ? -1 : 0;
}

/* Processors 0 and 2 are one core; of 5 nothing is known, of 7 nonsense. */
static FILE *open_siblings(const char *path)
{
    static const struct {
        const char *path, *text;
    } files[] = {{"/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2\n"},
                 {"/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1\n"},
                 {"/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2\n"},
                 {"/sys/devices/system/cpu/cpu7/topology/thread_siblings_list", "8192\n"},
                 {"/sys/devices/system/cpu/cpu8000/topology/thread_siblings_list", "none\n"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].path, path) == 0)
            return fmemopen((void *)files[i].text, strlen(files[i].text), "r");
    return NULL;
}

#define sched_getaffinity(pid, bytes, set) get_allowed(set, bytes)
#define fopen(path, mode) open_siblings(path)
#include "cores.c"
#undef fopen
#undef sched_getaffinity

static long let_go(int request, pid_t pid, void *signal)
{
    CHECK(request == PTRACE_DETACH && pid == 1234 && signal == (void *)(intptr_t)SIGSTOP);
    return 0;
}

static char said[4096];
static jmp_buf refused;

static void keep_line(const char *line, size_t bytes)
{
    snprintf(said + strlen(said), sizeof said - strlen(said), "%.*s", (int)bytes, line);
}

static _Noreturn void refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    longjmp(refused, 1);
}

static bool on_terminal;
#define ptrace(request, pid, none, signal) let_go(request, pid, signal)
#define isatty(fd) (fd == 2 && on_terminal)
#define say_usage refuse
#include "debug.c"
#undef isatty
#undef say_usage

#define ask_tool ask_debugger
#include "stacks.c"
#undef ask_tool
#undef TOOL_MS
#include "spelling.c"
#include "symbolizer.c"
#include "tool.c"

/* ---- stand-ins of tools ---- */

static char folder[] = "/tmp/lateral-tools-XXXXXX";

static void put(const char *name, const char *text)
{
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file && fprintf(file, "#!/bin/sh\n%s\n", text) > 0 && fclose(file) == 0 && chmod(path, 0700) == 0);
}

static void take_away(const char *name)
{
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

static void says(const char *wanted)
{
    if (strcmp(said, wanted) != 0)
        fprintf(stderr, "wanted:\n%sis:\n%s", wanted, said);
    CHECK(strcmp(said, wanted) == 0);
    *said = 0;
}

/* ---- answers ---- */

/* The answer of this script, which may take so many milliseconds, in so much room. */
static void answers(const char *script, int ms, size_t room, const char *wanted)
{
    char text[300];
    char *const none[] = {(char *)"no-such-tool", NULL}, *const tool[] = {(char *)"tool", (char *)"a b", NULL};
    char *const *const commands[] = {none, tool, NULL};
    const int before = ms;
    put("tool", script);
    memset(text, 'x', sizeof text);
    looks = 0;
    const size_t bytes = tool_run(commands, &ms, text + 8, room);
    if (bytes != strlen(wanted) || strcmp(text + 8, wanted) != 0)
        fprintf(stderr, "%s: %zu bytes, \"%.*s\"\n", script, bytes, (int)room, text + 8);
    CHECK(bytes == strlen(wanted) && strcmp(text + 8, wanted) == 0 && text[7] == 'x' && text[8 + room] == 'x');
    CHECK(before <= 0 ? ms == before : ms < before && (last_look || ms > before - 30000));
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static void tools(void)
{
    sigset_t all, before;
    answers("echo \"$1,$#\"", 5000, 64, "a b,1\n");
    answers("printf ab; sleep 0.02; printf cd; sleep 0.02; printf e", 90000, 64, "abcde");
    CHECK(looks < 14); /* it does not look on when the tool has ended */
    answers("printf 1234567890", 5000, 6, "12345");
    answers("printf 12345; exec sleep 30", 5000, 6, "12345");
    CHECK(looks == 4); /* it does not look for more than there is room for */
    last_look = 4;
    answers("printf 12345; exec sleep 30", 60000, 64, "12345");
    last_look = 0;
    answers("echo no", 0, 64, "");
    answers("echo no", -1, 64, "");
    answers("cat; echo wrong >&2; echo right", 5000, 64, "right\n");
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    answers("kill -TERM $$; echo alive", 5000, 64, "");
    sigprocmask(SIG_SETMASK, &before, NULL);
    answers("exit 3", 5000, 64, "");
    take_away("tool");
    int ms = 1000;
    char text[8];
    char *const none[] = {(char *)"no-such-tool", NULL};
    char *const *const commands[] = {none, NULL};
    const pid_t me = getpid();
    CHECK(tool_run(commands, &ms, text, sizeof text) == 0 && text[0] == 0);
    if (getpid() != me) { /* what could not become the tool goes on as this program */
        kill(me, SIGKILL);
        _exit(1);
    }
    CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

static void line_is(const char *answer, const char *wanted)
{
    char script[300], text[32] = "untouched";
    snprintf(script, sizeof script, "[ \"$*\" = '-e /bin/p 0x1234567890' ] && printf '%s'", answer);
    put("addr2line", script);
    const bool found = symbolizer_line("/bin/p", 0x1234567890, text, sizeof text);
    if (!found != !wanted || (found && strcmp(text, wanted) != 0))
        fprintf(stderr, "%s: \"%s\"\n", answer, text);
    CHECK(found == (wanted != NULL) && strcmp(text, found ? wanted : "untouched") == 0);
}

static void source_lines(void)
{
    line_is("/a/b/file.c:12\\n", "file.c:12");
    line_is("file.c:12\\nmore:7\\n", "file.c:12");
    line_is("/a b/file.c:12\\n", NULL);
    line_is("/a/file.c:12 (discriminator 3)\\n", "file.c:12");
    line_is("/a/file.c:12:7\\n", "file.c:12");
    line_is("/a:3/file.c:12", "file.c:12");
    line_is("??:0\\n", NULL);
    line_is("??:12\\n", NULL);
    line_is("?/x.c:1\\n", "x.c:1");
    line_is("/a/??:12\\n", NULL);
    line_is("/a/file.c:0\\n", NULL);
    line_is("/a/file.c:?\\n", NULL);
    line_is("?:12\\n", NULL);
    line_is("file.c:0\\n", NULL);
    line_is("/a/file.c\\n", NULL);
    line_is("", NULL);
    char text[32];
    take_away("addr2line");
    put("eu-addr2line", "[ \"$*\" = '-e p 0x10' ] && echo /x/eu.c:5");
    CHECK(symbolizer_line("p", 16, text, sizeof text) && strcmp(text, "eu.c:5") == 0);
    take_away("eu-addr2line");
    put("llvm-symbolizer", "[ \"$*\" = '--functions=none -e p 0x10' ] && echo /x/llvm.c:5:7");
    CHECK(symbolizer_line("p", 16, text, sizeof text) && strcmp(text, "llvm.c:5") == 0);
}

/* ---- stacks ---- */

static void tidies(const char *answer, const char *wanted)
{
    char copy[1000];
    snprintf(copy, sizeof copy, "%s", answer);
    char *text = tidy(copy);
    if (text && wanted && strcmp(text, wanted) != 0)
        fprintf(stderr, "wanted:\n%sis:\n%s", wanted, text);
    CHECK(!text == !wanted && (!text || strcmp(text, wanted) == 0));
    free(text);
}

static void frames(void)
{
    tidies("", NULL);
    tidies("no frame\nThread 1\n", NULL);
    tidies(
        "[New LWP 5]\nThread 2 (LWP 5):\n#0  0x00007f12 in poll (fds=0x1, n=2) at ../io/poll.c:29\n#1  main () at a b.c:5\n",
        "    #0 poll at ../io/poll.c:29\n    #1 main at a b.c:5\n");
    tidies("Thread 2:\n#0  f (x=1 at 2) at a.c:1\n\nThread 1:\n#10  0x12 in g () from /lib/l.so\ntail\n#11 h ()",
           "    #0 f at a.c:1\n    another thread:\n    #10 g from /lib/l.so\n    #11 h\n");
    tidies(
        "PID 5 - process\nTID 5:\n#0  0x00007f12 poll\n#1  0x00007f13 run.part.0 at x.c:3 at y.c:4\nTID 6:\n#0  0x1 - 1\n",
        "    #0 poll\n    #1 run.part.0 at y.c:4\n    another thread:\n    #0 -\n");
    tidies("#0  inner at a.c:1 from /lib/l.so\n#1  0xg\n", "    #0 inner at a.c:1 from /lib/l.so\n    #1 0xg\n");
}

enum { PES = 7 };
static pid_t pids[PES];

static void start_pes(void)
{
    for (int pe = 0; pe < PES; pe++) {
        pids[pe] = fork();
        CHECK(pids[pe] >= 0);
        if (pids[pe] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
    }
}

/* PEs 40, 42 and 43 stand alike, 41 elsewhere, 44 has ended, 45 no process any more, and the tool says nothing of 46. */
static void stacks(void)
{
    struct node node = {.size = PES, .first = 40};
    char script[1000];
    start_pes();
    for (int pe = 4; pe < 6; pe++)
        CHECK(kill(pids[pe], SIGKILL) == 0 && waitpid(pids[pe], NULL, 0) == pids[pe]);
    pids[4] = 0;
    const struct view view = {&node, NULL, pids};
    snprintf(
        script, sizeof script,
        "[ \"$1 $2 $3\" = '-nx -batch -p' ] && [ \"$5 $6\" = '-ex thread apply all backtrace' ] || exit\n"
        "case $4 in %d|%d|%d) echo '#0  wait () at w.c:1'; echo '#1  main ()';; %d) echo '#0  work () at w.c:9';; esac",
        (int)pids[0], (int)pids[2], (int)pids[3], (int)pids[1]);
    put("gdb", script);
    const char *both =
        "stack of PEs 40,42,43:\n    #0 wait at w.c:1\n    #1 main\nstack of PE 41:\n    #0 work at w.c:9\n";
    char wanted[1000];
    stacks_print(&view);
    snprintf(wanted, sizeof wanted,
             "%sno stacks of 1 PE: neither gdb nor eu-stack is here, or it may not look at them\n", both);
    says(wanted);
    pids[5] = 0;
    put("gdb", "exit");
    stacks_print(&view);
    says("no stacks of 5 PEs: neither gdb nor eu-stack is here, or it may not look at them\n");
    take_away("gdb");
    snprintf(script, sizeof script, "[ \"$*\" = '-p %d' ] && echo '#0  0x12 wait'", (int)pids[6]);
    put("eu-stack", script);
    CHECK(kill(pids[0], SIGKILL) == 0 && waitpid(pids[0], NULL, 0) == pids[0]);
    pids[0] = 0;
    stacks_print(&view);
    says(
        "stack of PE 46:\n    #0 wait\nno stacks of 3 PEs: neither gdb nor eu-stack is here, or it may not look at them\n");
    put("gdb", "echo '#0  f ()'");
    pids[1] = pids[2] = pids[3] = 0;
    clock_now = INT64_C(1) << 33;
    stacks_print(&view);
    says("stack of PE 46:\n    #0 f\n");
    CHECK(kill(pids[6], SIGKILL) == 0 && waitpid(pids[6], NULL, 0) == pids[6]);
    stacks_print(&view);
    says("");
}

/* ---- debuggers ---- */

static void checks(const char *list, const char *wanted)
{
    if (!setjmp(refused))
        debug_check(list, 3);
    says(wanted);
}

#define NO_LIST ": expected PEs such as 1,3 or 0-2, or all"

static void lists(void)
{
    static const struct {
        const char *list;
        unsigned pes; /* as bits */
    } good[] = {{NULL, 0},  {"all", 15}, {"0", 1},     {"2", 4},   {"0,2", 5},
                {"0-2", 7}, {"1-1", 2},  {"2,0-1", 7}, {"0,0", 1}, {"1-2,0", 7}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        checks(good[i].list, "");
        for (uint32_t pe = 0; pe < 4; pe++)
            CHECK(debug_wants(good[i].list, pe) == (good[i].pes >> pe & 1));
    }
    checks("", "--debug" NO_LIST);
    static const char *const bad[] = {"x",   "-1", "1-", "1-x", "1,",    ",1",  "1,,2",
                                      "2-1", "1 ", "+1", "1x",  "1-2-2", "alle"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char wanted[200];
        snprintf(wanted, sizeof wanted, "--debug %s" NO_LIST, bad[i]);
        checks(bad[i], wanted);
    }
    checks("3", "--debug 3: this job has the PEs 0 to 2");
    checks("0-3", "--debug 0-3: this job has the PEs 0 to 2");
    checks("4294967296", "--debug 4294967296: this job has the PEs 0 to 2");
    CHECK(!debug_wants("4294967296", 0) && !debug_wants("x", 0) && debug_wants("0,x", 0) && !debug_wants("0,x", 1));
    CHECK(debug_arrived(SIGTRAP << 8 | 0x7f) && !debug_arrived(SIGSTOP << 8 | 0x7f) && !debug_arrived(SIGTRAP << 8));
    CHECK(!debug_arrived(PTRACE_EVENT_STOP << 16 | SIGTRAP << 8 | 0x7f));
}

#define GDB "gdb -p 1234 -ex 'handle SIGSTOP SIGCONT nostop noprint nopass' -ex 'shell kill -CONT 1234'"

/* What is offered, and what tmux is told. */
static void offers(const char *session, bool terminal, int status, bool pane)
{
    char script[300], log[100], text[600] = "";
    const char *told = "split-window -d " GDB "\nselect-layout tiled\n";
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(script, sizeof script, "echo \"$*\" >>%s; exit %d", log, status);
    put("tmux", script);
    CHECK(setenv("TMUX", session ? session : "", 1) == 0 && (session || unsetenv("TMUX") == 0));
    on_terminal = terminal;
    debug_offer(5, 1234);
    says(pane ? "oshrun: PE 5 waits for its debugger in a pane of tmux: " GDB "\n"
              : "oshrun: PE 5 waits for a debugger; type in another terminal: " GDB "\n");
    const int fd = open(log, O_RDONLY);
    CHECK((fd >= 0) == (pane || status) && (fd < 0 || read(fd, text, sizeof text - 1) > 0));
    CHECK(pane ? strcmp(text, told) == 0 : strncmp(text, told, strlen(text)) == 0);
    unlink(log);
}

static void panes(void)
{
    offers("session", true, 0, true);
    offers("session", false, 0, false);
    offers("", true, 0, false);
    offers(NULL, true, 0, false);
    offers("session", true, 1, false);
    put("tmux", "kill -KILL $$");
    debug_offer(5, 1234);
    CHECK(strstr(said, "type in another"));
    *said = 0;
    take_away("tmux");
    debug_offer(5, 1234);
    CHECK(strstr(said, "type in another"));
}

/* ---- processors and names ---- */

static void has(uint32_t pe, int one, int other)
{
    struct cpus cpus;
    memset(&cpus, 255, sizeof cpus);
    cores_of_pe(pe, &cpus);
    CHECK(CPU_ISSET_S((size_t)one, sizeof cpus, cpus.set) && CPU_ISSET_S((size_t)other, sizeof cpus, cpus.set));
    CHECK(CPU_COUNT_S(sizeof cpus, cpus.set) == 1 + (one != other));
}

static void cores(void)
{
    CHECK(cores_allowed() == 6);
    for (uint32_t turn = 0; turn < 20; turn += 5) {
        has(turn, 0, 2);
        has(turn + 1, 1, 1);
        has(turn + 2, 5, 5);
        has(turn + 3, 7, 7);
        has(turn + 4, 8000, 8000);
    }
    has(5 * 858993459u - 1, 8000, 8000);
}

static void unknown_cores(void)
{
    allowed[0] = -1;
    all_fails = true;
    CHECK(cores_allowed() == 1);
    has(0, 0, 0);
    has(7, 0, 0);
}

static void spellings(void)
{
    const char *first[] = {"LATERAL_SPIM=1", "OTHER=1", "LATERAL_SPIMM"}, *second[] = {"A=1", "LATERAL_SPIMN=2"};
    struct app apps[] = {{.exports = first, .nexports = 3}, {.exports = second, .nexports = 2}};
    struct options options = {.apps = apps, .napps = 2, .quiet = true};
    char *mine[] = {(char *)"LATERAL_SPIM=2", (char *)"LATERAL_SPIN=3", (char *)"X=1", NULL};
    environ = mine;
    spelling_check_variables(&options);
    says("");
    options.quiet = false;
    spelling_check_variables(&options);
#define NO_NAME(name) "oshrun: no variable is named " name ", so it has no effect; did you mean LATERAL_SPIN?\n"
    says(NO_NAME("LATERAL_SPIM") NO_NAME("LATERAL_SPIM") NO_NAME("LATERAL_SPIMN"));
}

/* A line holds nothing that a terminal obeys, and is cut where it is too long. */
static void lines(void)
{
    char longer[3000], text[4];
    say("a\033b\nc\t%s\177\200", "\001");
    says("oshrun: a?b?c???\200\n");
    say_more("%s", "");
    says("\n");
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    say("%s", longer);
    CHECK(strlen(said) > 2000 && strlen(said) <= 2048 && said[strlen(said) - 1] == '\n');
    CHECK(say_if_null(text) == text);
}

int main(void)
{
    static const char *const others[] = {"cat", "sleep"};
    static void (*const tests[])(void) = {tools, source_lines, frames,        stacks,    lists,
                                          panes, cores,        unknown_cores, spellings, lines};
    char path[100], place[100], command[80];
    CHECK(mkdtemp(folder));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, others[i]);
        snprintf(place, sizeof place, "/bin/%s", others[i]);
        CHECK(symlink(place, path) == 0);
    }
    snprintf(command, sizeof command, "/bin/rm -r %s", folder);
    setenv("PATH", folder, 1);
    say_through(keep_line);
    run_apart(tests, sizeof tests / sizeof *tests);
    CHECK(system(command) == 0);
    return 0;
}
