/* The environment that a PE gets, and the layers in front of its library. */
#include "environment.h"
#include "message.h"

#include "apart.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static char said[512];

static void keep_line(const char *line, size_t bytes)
{
    snprintf(said, sizeof said, "%.*s", (int)bytes, line);
}

static void set_environment(char **variables)
{
    environ = variables;
}

/* The list holds these entries in this order. */
static void holds(char **list, const char *const *wanted)
{
    size_t i = 0;
    for (; wanted[i] && list[i]; i++) {
        if (strcmp(list[i], wanted[i]) != 0)
            fprintf(stderr, "entry %zu: %s, not %s\n", i, list[i], wanted[i]);
        CHECK(strcmp(list[i], wanted[i]) == 0);
    }
    CHECK(!wanted[i] && !list[i]);
    for (i = 0; list[i]; i++)
        free(list[i]);
    free(list);
}

static void test_entries(void)
{
    char *variables[] = {(char *)"A=1",
                         (char *)"LATERAL_JOB=5:5:5",
                         (char *)"LATERAL_PE=9",
                         (char *)"LATERAL_NPES=7",
                         (char *)"LATERAL_JOBS=1",
                         (char *)"LATERAL_PEX=2",
                         (char *)"AB=1",
                         (char *)"PATH=/bin",
                         0};
    const char *exports[] = {"C=1", "B=2", "A=3", "NOPE", "PATH", "B=4"};
    struct app app = {.exports = exports, .nexports = 6};
    const struct layer none = {0};
    set_environment(variables);
    char **list = environment_make(&app, 4, &none);
    CHECK(strcmp(said, "oshrun: -x NOPE: not set in the environment of oshrun, so not passed on\n") == 0);
    environment_name_pe(list, 3, 65535, 7);
    holds(list,
          (const char *const[]){"LATERAL_JOB=3:65535:7", "LATERAL_PE=65535", "A=3", "LATERAL_NPES=4", "LATERAL_JOBS=1",
                                "LATERAL_PEX=2", "AB=1", "PATH=/bin", "C=1", "B=4", "UCX_HANDLE_ERRORS=none", 0});
}

static void test_layers_entries(void)
{
    char *plain[] = {(char *)"UCX_HANDLE_ERRORS=bt", 0};
    char *full[] = {(char *)"LD_PRELOAD=x.so", (char *)"S=0", (char *)"ASAN_OPTIONS=a=b", 0};
    char setting[] = "S=1";
    struct app app = {0};
    struct layer layer = {.library = "/l/x.so"};
    layer.settings[0] = setting;
    set_environment(plain);
    char **list = environment_make(&app, 1, &layer);
    environment_name_pe(list, 3, 0, 4);
    holds(list, (const char *const[]){"LATERAL_JOB=3:0:4", "LATERAL_PE=0", "UCX_HANDLE_ERRORS=bt", "LATERAL_NPES=1",
                                      "S=1", "LD_PRELOAD=/l/x.so", "ASAN_OPTIONS=verify_asan_link_order=0", 0});
    set_environment(full);
    list = environment_make(&app, 1, &layer);
    environment_name_pe(list, 3, 0, 4);
    holds(list, (const char *const[]){"LATERAL_JOB=3:0:4", "LATERAL_PE=0", "LD_PRELOAD=/l/x.so:x.so", "S=1",
                                      "ASAN_OPTIONS=a=b:verify_asan_link_order=0", "LATERAL_NPES=1",
                                      "UCX_HANDLE_ERRORS=none", 0});
}

static void test_wants_check(void)
{
    static const struct {
        const char *variable;
        bool wants;
    } rows[] = {{"X=1", false},
                {"LATERAL_CHECK=", false},
                {"LATERAL_CHECK=0", false},
                {"LATERAL_CHECK=1", true},
                {"LATERAL_CHECK=00", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *variables[] = {(char *)rows[i].variable, 0};
        struct options options = {0};
        set_environment(variables);
        environment_take_wishes(&options);
        CHECK(options.check == rows[i].wants && !options.race && !options.stats && !options.trace);
    }
}

static void chooses(const struct options *options, const char *library, const char *first, const char *second)
{
    struct layer layer;
    CHECK(environment_choose_layer(options, &layer));
    CHECK(!library == !layer.library && (!library || strstr(layer.library, library)));
    CHECK(!first == !layer.settings[0] && (!first || strcmp(layer.settings[0], first) == 0));
    CHECK(!first || (!second == !layer.settings[1] && (!second || strcmp(layer.settings[1], second) == 0)));
    environment_drop_layer(&layer);
    CHECK(!layer.library && !layer.settings[0]);
}

static void test_layers(void)
{
    char here[512], trace[600];
    CHECK(getcwd(here, sizeof here) != NULL);
    snprintf(trace, sizeof trace, "LATERAL_TRACE=%s/t", here);
    CHECK(environment_has_module("check") && !environment_has_module("no_such"));
    chooses(&(struct options){0}, 0, 0, 0);
    chooses(&(struct options){.race = true}, "/liblateral-race.so", "LATERAL_CHECK=race", 0);
    chooses(&(struct options){.check = true, .trace = "t"}, "/liblateral-check.so", "LATERAL_CHECK=1", trace);
    chooses(&(struct options){.check = true, .stats = true}, "/liblateral-stats.so:", "LATERAL_CHECK=1",
            "LATERAL_STATS=1");
    chooses(&(struct options){.stats = true}, "/liblateral-stats.so", "LATERAL_STATS=1", 0);
    chooses(&(struct options){.trace = "t"}, "/liblateral-stats.so", trace, 0);
    chooses(&(struct options){.trace = "/t", .stats = true}, "/liblateral-stats.so", "LATERAL_STATS=1",
            "LATERAL_TRACE=/t");
}

int main(void)
{
    say_through(keep_line);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these builds have no layers */
    static void (*const tests[])(void) = {test_entries, test_layers_entries, test_wants_check, test_layers};
#else
    static void (*const tests[])(void) = {test_entries, test_layers_entries, test_wants_check};
    (void)test_layers;
#endif
    run_apart(tests, sizeof tests / sizeof *tests);
    return 0;
}
