/* Sizes as the environment spells them: what they mean, and what is refused. Nothing takes long. */
#include "base/env.h"

#include "unit/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void means(const char *text, uint64_t bytes)
{
    uint64_t read = 1;
    int status = env_parse_size(text, &read);
    if (status != 0 || read != bytes)
        fprintf(stderr, "\"%s\": status %d, %llu bytes\n", text, status, (unsigned long long)read);
    CHECK(status == 0 && read == bytes);
}

static void refused(const char *text)
{
    uint64_t read = 1;
    if (env_parse_size(text, &read) == 0)
        fprintf(stderr, "\"%s\" is taken for %llu bytes\n", text, (unsigned long long)read);
    CHECK(env_parse_size(text, &read) == -1);
}

/* One line names the variable and its value. */
static void load_names_the_variable(void)
{
    const char *why = "";
    setenv("SHMEM_SYMMETRIC_SIZE", "2x", 1);
    CHECK(env_load(&why) == -1);
    CHECK(strstr(why, "SHMEM_SYMMETRIC_SIZE=2x is not a size"));
    setenv("SHMEM_SYMMETRIC_SIZE", "2m", 1);
    CHECK(env_load(&why) == 0 && env_size(ENV_SYMMETRIC_SIZE) == 2 << 20);
}

/* Words of a list, and nothing else: no part of one, no two of them, none. */
static void load_knows_words(void)
{
    static const char *const good[] = {"auto", "tcp", "ucx", "fault:tcp", "sim:fault:ucx"},
                             *const bad[] = {"", "uc", "ucxx", "tcp,ucx", "auto, tcp", "fault:", "tcp:fault"};
    const char *why = "";
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        setenv("LATERAL_TRANSPORTS", good[i], 1);
        CHECK(env_load(&why) == 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("LATERAL_TRANSPORTS", bad[i], 1);
        CHECK(env_load(&why) == -1 && strstr(why, bad[i]) && strstr(why, " is not one of auto, tcp, ucx"));
    }
    unsetenv("LATERAL_TRANSPORTS");
    setenv("LATERAL_WIRE", "fault:auto", 1);
    CHECK(env_load(&why) == -1 && strcmp(why, "LATERAL_WIRE=fault:auto is not one of auto, messages, rdma") == 0);
    unsetenv("LATERAL_WIRE");
}

static int loads(const char *name, const char *text, const char **why)
{
    *why = "";
    setenv(name, text, 1);
    const int status = env_load(why);
    unsetenv(name);
    return status;
}

static void load_reads_flags(void)
{
    static const char *const off[] = {"0", "n", "no", "No", "FALSE", "false", "off"}, *const on[] = {"1",  "y",  "yes",
                                                                                                     "on", "00", "nope",
                                                                                                     ""};
    const char *why;
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        CHECK(loads("LATERAL_GLOBALS", off[i], &why) == 0);
        if (env_flag(ENV_GLOBALS))
            fprintf(stderr, "\"%s\" is on\n", off[i]);
        CHECK(!env_flag(ENV_GLOBALS));
    }
    for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
        CHECK(loads("LATERAL_CHECK", on[i], &why) == 0);
        if (!env_flag(ENV_CHECK))
            fprintf(stderr, "\"%s\" is off\n", on[i]);
        CHECK(env_flag(ENV_CHECK));
    }
    CHECK(env_load(&why) == 0 && !env_flag(ENV_CHECK) && env_flag(ENV_GLOBALS));
}

static void load_reads_numbers(void)
{
    static const struct {
        const char *text;
        int64_t number;
    } good[] =
        {{"0", 0}, {"-3", -3}, {" 12", 12}, {"+7", 7}, {"5000000000", 5000000000}, {"-9223372036854775808", INT64_MIN}};
    static const char *const bad[] = {"", " ", "5x", "x", "1.5", "5 ", "0x10", "9223372036854775808"};
    const char *why;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK(loads("LATERAL_LANES", good[i].text, &why) == 0);
        if (env_number(ENV_LANES) != good[i].number)
            fprintf(stderr, "\"%s\" is %lld\n", good[i].text, (long long)env_number(ENV_LANES));
        CHECK(env_number(ENV_LANES) == good[i].number);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[128];
        snprintf(line, sizeof line, "LATERAL_LANES=%s is not a whole number", bad[i]);
        if (loads("LATERAL_LANES", bad[i], &why) == 0)
            fprintf(stderr, "\"%s\" is a number\n", bad[i]);
        CHECK(strcmp(why, line) == 0);
    }
}

/* Some variables count when they are there, whatever they hold; a name of old counts when the new one is not there. */
static void load_finds_names(void)
{
    const char *why, *from;
    CHECK(env_load(&why) == 0 && !env_flag(ENV_DEBUG) && strcmp(env_value(ENV_DEBUG, &from), "") == 0 && !from);
    CHECK(loads("SHMEM_DEBUG", "", &why) == 0 && env_flag(ENV_DEBUG));
    CHECK(loads("SMA_DEBUG", "0", &why) == 0 && env_flag(ENV_DEBUG));
    CHECK(strcmp(env_value(ENV_DEBUG, &from), "0") == 0 && strcmp(from, "SMA_DEBUG") == 0);
    unsetenv("SHMEM_SYMMETRIC_SIZE");
    CHECK(loads("SMA_SYMMETRIC_SIZE", "3m", &why) == 0 && env_size(ENV_SYMMETRIC_SIZE) == 3 << 20);
    setenv("SHMEM_SYMMETRIC_SIZE", "2m", 1);
    CHECK(loads("SMA_SYMMETRIC_SIZE", "nonsense", &why) == 0 && env_size(ENV_SYMMETRIC_SIZE) == 2 << 20);
    CHECK(strcmp(env_value(ENV_SYMMETRIC_SIZE, &from), "2m") == 0 && strcmp(from, "SHMEM_SYMMETRIC_SIZE") == 0);
    unsetenv("SHMEM_SYMMETRIC_SIZE");
    CHECK(env_load(&why) == 0 && env_size(ENV_SYMMETRIC_SIZE) == UINT64_C(4) << 30);
    CHECK(loads("SMA_SYMMETRIC_SIZE", "3x", &why) == -1 &&
          strcmp(why, "SMA_SYMMETRIC_SIZE=3x is not a size such as 512m or 1.5g") == 0);
    CHECK(strcmp(env_describe(ENV_SYMMETRIC_SIZE)->name, "SHMEM_SYMMETRIC_SIZE") == 0);
    CHECK(loads("LATERAL_RTE", "pmi", &why) == 0 && strcmp(env_text(ENV_RTE), "pmi") == 0);
}

int main(void)
{
    alarm(10);
    means("0", 0);
    means("7", 7);
    means(" 2k ", 2048);
    means("2000kk", 2048000);
    means("512MB", UINT64_C(512) << 20);
    means("1.5g", UINT64_C(3) << 29);
    means(".5m", 1 << 19);
    means("0.0001k", 1);
    means("1e3", 1000);
    means("25e-1k", 2560);
    means("12 ", 12);
    means("0e99999999999999999", 0);
    means("0e-99999999999999999", 0);
    means("1e-99999999999999999", 0);
    means("4611686018427387903", (UINT64_C(1) << 62) - 1);
    means("4194303t", UINT64_C(4194303) << 40);
    means("5e9", UINT64_C(5000000000));
    means("0.5t", UINT64_C(1) << 39);
    means("1.1t", UINT64_C(1209462790554));
    means("1e0", 1);
    means("4e18", UINT64_C(4000000000000000000));
    means("1e-4294967297", 0);
    refused("1e4294967297");
    refused("9223372036854775808e0");
    refused("");
    refused("k");
    refused("2x");
    refused("2 g");
    refused("0x100000");
    refused("1_000");
    refused("-5");
    refused("1e99999999999999999");
    refused("2e");
    refused("nan");
    refused("inf");
    refused("4194304t");
    refused("4611686018427387904");
    refused("18446744073709551615");
    refused("99999999999999999999");
    load_names_the_variable();
    load_knows_words();
    load_reads_flags();
    load_reads_numbers();
    load_finds_names();
    return 0;
}
