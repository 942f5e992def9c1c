/* lateral-info: shows this installation and how it would run here: version, build, machine, transports, launchers, MPI
 * layers, and every environment variable with its value and the origin of that value. */
#include "base/env.h"
#include "base/meant.h"
#include "info.h"
#include "layers.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* JSON on standard output, one value a line; commas and indentation come by themselves. Inside an object each value has a key; the
 * whole document has none. The nesting is at most DEPTH deep. */
#define DEPTH 8

static bool filled[DEPTH + 1];
static int depth;

static void write_text(const char *text)
{
    putchar('"');
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (*at == '"' || *at == '\\')
            printf("\\%c", *at);
        else if (*at < ' ' || *at == 127)
            printf("\\u%04x", *at);
        else
            putchar(*at);
    putchar('"');
}

/* Starts the line of a value. */
static void begin_member(const char *key)
{
    if (depth)
        printf("%s\n%*s", filled[depth] ? "," : "", 2 * depth, "");
    filled[depth] = true;
    if (!key)
        return;
    write_text(key);
    printf(": ");
}

static void json_open(const char *key)
{
    begin_member(key);
    putchar('{');
    depth += depth < DEPTH;
    filled[depth] = false;
}

static void json_close(void)
{
    bool any = filled[depth--];
    if (any)
        printf("\n%*s", 2 * depth, "");
    putchar('}');
    if (!depth)
        putchar('\n');
}

static void json_text(const char *key, const char *text)
{
    begin_member(key);
    if (text)
        write_text(text);
    else
        printf("null");
}

static void json_number(const char *key, double number)
{
    begin_member(key);
    printf("%.15g", number);
}

static void json_flag(const char *key, bool flag)
{
    begin_member(key);
    printf(flag ? "true" : "false");
}

static void write_machine(void)
{
    struct machine machine = facts_machine();
    json_open("machine");
    json_text("host", machine.host);
    json_text("kernel", machine.kernel);
    json_number("cores", machine.cores);
    json_number("cores_allowed", machine.allowed);
    json_number("memory_bytes", machine.memory);
    json_number("page_bytes", (double)machine.page);
    json_close();
}

static void write_module(enum facts_which which)
{
    struct facts_module module = facts_module(which);
    json_open(module.name);
    json_flag("usable", module.path != 0);
    json_text("serves", module.serves);
    json_text("version", module.version);
    json_text("library", module.path);
    json_text("why_not", module.path ? 0 : module.why);
    json_close();
}

static void write_layers(void)
{
    json_open("mpi_layers");
    for (int i = 0; layer_name(i); i++) {
        struct facts_layer layer = facts_layer(i);
        json_open(layer_name(i));
        json_flag("installed", layer.installed);
        json_text("soname", *layer.path ? layer.soname : 0);
        json_text("library", *layer.path ? layer.path : 0);
        json_close();
    }
    json_close();
}

static void write_variables(void)
{
    json_open("environment");
    for (int id = 0; id < ENV_COUNT; id++) {
        const struct env_variable *variable = env_describe((enum env_id)id);
        const char *from, *value = env_value((enum env_id)id, &from);
        json_open(variable->name);
        json_text("value", value);
        json_text("from", from);
        json_text("default", variable->standard);
        json_text("help", variable->help);
        json_close();
    }
    json_close();
}

/* Prints everything as one JSON object; refused is the mistake in a variable, or null. */
static void info_json(const char *refused)
{
    json_open(0);
    json_text("version", LATERAL_VERSION);
    json_text("openshmem", "1.6");
    json_open("build");
    json_text("compiler", facts_compiler);
    json_text("target", facts_target);
    json_flag("assertions", facts_assertions);
    json_close();
    write_machine();
    write_module(FACTS_TCP);
    write_module(FACTS_UCX);
    write_module(FACTS_OFI);
    write_module(FACTS_PMIX);
    write_layers();
    json_text("mistake", refused);
    if (!refused)
        write_variables();
    json_close();
}

static const char usage[] =
    "usage: lateral-info [--version | --env | --json | --doctor | --help]\n"
    "\n"
    "Prints version, build, machine, transports, launchers, MPI layers and environment variables.\n"
    "\n"
    "  --version   the version alone\n"
    "  --env       the environment variables alone\n"
    "  --json      the same as one JSON object\n"
    "  --doctor    try what jobs need here, and tell what is missing\n"
    "  --help      this text\n"
    "\n"
    "examples:\n"
    "  lateral-info\n"
    "  SHMEM_SYMMETRIC_SIZE=2g lateral-info --env\n"
    "\n"
    "exit status: 0; 1 when a variable has a value that the library would refuse, or when --doctor finds\n"
    "that jobs cannot run; 2 for a wrong option\n";

static void print_build(void)
{
    printf("Lateral " LATERAL_VERSION ", OpenSHMEM 1.6\n\n");
    printf("Build\n  compiler    %s\n  target      %s\n", facts_compiler, facts_target);
    printf("  assertions  %s\n", facts_assertions ? "on" : "off");
}

static void print_machine(void)
{
    struct machine machine = facts_machine();
    printf("\nMachine\n  host        %s\n  kernel      %s\n  cores       %d allowed of %d\n", machine.host,
           machine.kernel, machine.allowed, machine.cores);
    printf("  memory      %.1f GiB\n  page        %ld bytes\n", machine.memory / (1 << 30), machine.page);
}

/* Prints a module, its purpose, and the library it works with. */
static void print_module(enum facts_which which)
{
    struct facts_module module = facts_module(which);
    if (module.path)
        printf("  %-11s %s: %s, %s\n", module.name, module.serves, module.version, module.path);
    else
        printf("  %-11s %s: not here: %s\n", module.name, module.serves, module.why);
}

static void print_transports(void)
{
    printf("\nTransports\n  shm         PEs of one node: shared memory, processor atomics\n");
    print_module(FACTS_TCP);
    print_module(FACTS_UCX);
    print_module(FACTS_OFI);
    printf("\nLaunchers\n  oshrun      one node\n  pmi         Hydra, srun --mpi=pmi2\n");
    print_module(FACTS_PMIX);
}

/* Prints for each MPI whether its one-sided functions can be Lateral's here, and the library that the layer works with. */
static void print_layers(void)
{
    printf("\nMPI layers (lateral-mpi)\n");
    for (int i = 0; layer_name(i); i++) {
        struct facts_layer layer = facts_layer(i);
        if (!layer.installed)
            printf("  %-11s not in this installation\n", layer_name(i));
        else if (*layer.path)
            printf("  %-11s %s, %s\n", layer_name(i), layer.soname, layer.path);
        else
            printf("  %-11s its MPI is not where the dynamic linker looks\n", layer_name(i));
    }
}

static void print_variables(void)
{
    printf("Environment\n");
    for (int id = 0; id < ENV_COUNT; id++) {
        const struct env_variable *variable = env_describe((enum env_id)id);
        const char *from, *value = env_value((enum env_id)id, &from);
        printf("  %-24s %-14s %s%s\n  %24s %s\n", variable->name, *value ? value : "-", from ? "from " : "default",
               from ? from : "", "", variable->help);
    }
}

static const char *const options[] = {"--version", "--env", "--json", "--doctor", "--help", "--doctor-pe"};

static int refuse_option(const char *word)
{
    const char *meant = "";
    size_t bytes = strlen(word);
    for (size_t i = 0; i < 5 && !*meant; i++)
        if (meant_distance(word, bytes, options[i], strlen(options[i])) <= meant_mistakes(bytes))
            meant = options[i];
    fprintf(stderr, "lateral-info: unknown option %s; %s%s%ssee lateral-info --help\n", word,
            *meant ? "did you mean " : "", meant, *meant ? "? " : "");
    return 2;
}

static bool is_option(const char *word)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(word, options[i]) == 0)
            return true;
    return false;
}

static void print_all(const char *refused)
{
    print_build();
    print_machine();
    print_transports();
    print_layers();
    printf("\n");
    if (!refused)
        print_variables();
}

int main(int argc, char **argv)
{
    const char *why = 0, *what = argc > 1 ? argv[1] : "";
    if (argc > 2 || (*what && !is_option(what)))
        return refuse_option(argc > 2 && is_option(what) ? argv[2] : what);
    if (!strcmp(what, "--help"))
        return fputs(usage, stdout) < 0;
    if (!strcmp(what, "--version"))
        return printf("lateral-info " LATERAL_VERSION "\n") < 0;
    if (!strcmp(what, "--doctor-pe"))
        return info_doctor_pe();
    if (env_load(&why) == 0)
        why = 0;
    if (!strcmp(what, "--doctor"))
        return info_doctor(why);
    if (!strcmp(what, "--json"))
        info_json(why);
    else if (!*what)
        print_all(why);
    else if (!why)
        print_variables();
    if (why)
        fprintf(stderr, "lateral-info: %s\n", why);
    return why ? 1 : 0;
}
