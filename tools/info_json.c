#include "info.h"

#include "base/env.h"
#include "facts.h"
#include "layers.h"

#include <stdbool.h>
#include <stdio.h>

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

void info_json(const char *refused)
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
