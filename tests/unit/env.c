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
    return 0;
}
