/* Runs the contract suite over one transport, each case in a process of its own:
 *
 *   suite MODULES LIST [--claims=WORDS] [--seed=N] [--case=NAME] [--minutes=N]
 *
 * MODULES is the folder of the modules, LIST a value of LATERAL_TRANSPORTS. A case that fails prints the command that repeats it. With
 * --minutes, cases that draw by the seed run again and again, with other seeds. */
#include "transport/net.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CASE_SECONDS = 90 };

static const struct net_case *const all[] = {cases_messages, cases_connect,  cases_sleep,    cases_loss,
                                             cases_onesided, cases_schedule, cases_switches, cases_tcp};
static const char *claims = "";

static bool has_word(const char *list, const char *word)
{
    const size_t bytes = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += bytes)
        if ((at == list || strchr(",:", at[-1])) && (!at[bytes] || strchr(",:", at[bytes])))
            return true;
    return false;
}

bool net_claims(const char *what)
{
    return has_word(claims, what);
}

static void run_case(const struct net_case *of, uint64_t seed)
{
    char plan[32];
    net.seed = seed;
    net.name = of->name;
    alarm(CASE_SECONDS);
    snprintf(plan, sizeof plan, "seed=%lu", (unsigned long)seed);
    net_plan("fault", plan, true);
    net_plan("sim", plan, true);
    of->run();
    exit(0);
}

static bool passes(const struct net_case *of, uint64_t seed)
{
    int status = 0;
    const pid_t pid = fork();
    if (pid == 0)
        run_case(of, seed);
    waitpid(pid, &status, 0);
    if (status == 0)
        return true;
    if (WIFSIGNALED(status))
        fprintf(stderr, "%s over %s: %s\n", of->name, net.list,
                WTERMSIG(status) == SIGALRM ? "it does not end" : strsignal(WTERMSIG(status)));
    fprintf(stderr, "FAILS: %s over %s. It repeats with --case=%s --seed=%lu\n", of->name, net.list, of->name,
            (unsigned long)seed);
    return false;
}

static bool is_wanted(const struct net_case *of, const char *name)
{
    return (!*name || strcmp(of->name, name) == 0) &&
           (!of->only || has_word(net.list, of->only) || net_claims(of->only));
}

static int run_all(const char *name, uint64_t seed, bool drawn)
{
    int failures = 0, count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const struct net_case *of = all[i]; of->name; of++)
            if (is_wanted(of, name) && (!drawn || all[i] == cases_schedule)) {
                failures += !passes(of, seed);
                count++;
            }
    if (!drawn)
        printf("%d cases over %s with seed %lu: %d failed\n", count, net.list, (unsigned long)seed, failures);
    return failures || !count;
}

static int soak(const char *name, uint64_t seed, long minutes)
{
    const time_t end = time(0) + minutes * 60;
    uint64_t runs = 0;
    int wrong = 0;
    for (; !wrong && time(0) < end; runs++)
        wrong = run_all(name, seed + runs, true);
    printf("%lu seeds from %lu over %s\n", (unsigned long)runs, (unsigned long)seed, net.list);
    return wrong;
}

int main(int count, char **words)
{
    const char *name = "";
    uint64_t seed = 1;
    long minutes = 0;
    if (count < 3)
        return fprintf(stderr, "usage: suite MODULES LIST [--claims=WORDS] [--seed=N] [--case=NAME] [--minutes=N]\n"),
               2;
    net.modules = words[1];
    net.list = words[2];
    setenv("LATERAL_TRANSPORTS", net.list, 1);
    for (int i = 3; i < count; i++) {
        const char *value = strchr(words[i], '=');
        value = value ? value + 1 : "";
        if (strncmp(words[i], "--claims=", 9) == 0)
            claims = value;
        else if (strncmp(words[i], "--seed=", 7) == 0)
            seed = strtoull(value, 0, 10);
        else if (strncmp(words[i], "--case=", 7) == 0)
            name = value;
        else if (strncmp(words[i], "--minutes=", 10) == 0)
            minutes = strtol(value, 0, 10);
    }
    signal(SIGPIPE, SIG_DFL);
    return minutes ? soak(name, seed, minutes) : run_all(name, seed, false);
}
