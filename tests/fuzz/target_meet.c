/* What processes say to the host of a meeting: a row of hellos, cut as the input says. */
#include "fuzz/fuzz.h"

#include "../../src/rte/meet.c"

enum { PES = 8 };

static void say(struct party *party, struct fuzz *fuzz)
{
    int ends[2];
    struct hello hello = {.magic = HELLO_MAGIC, .npes = PES};
    const uint8_t how = fuzz_byte(fuzz);
    size_t bytes = how & 1 ? fuzz_short(fuzz) % (2 * sizeof hello) : sizeof hello;
    char text[2 * sizeof hello] = {0};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        return;
    hello.pe = (int8_t)fuzz_byte(fuzz);
    hello.cpus[how % CPU_WORDS] = fuzz_byte(fuzz);
    if (how & 2)
        fuzz_take(fuzz, &hello, 24);
    memcpy(text, &hello, sizeof hello);
    (void)!write(ends[0], text, bytes);
    if (how & 4)
        shutdown(ends[0], SHUT_WR);
    welcome(party, ends[1], PES);
    close(ends[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz fuzz = {data, size};
    struct party party = {0};
    for (int i = 0; fuzz.left && i < 24; i++)
        say(&party, &fuzz);
    (void)count_cores(&party);
    if (party.count) { /* the host itself is always there */
        qsort(party.guests, party.count, sizeof *party.guests, by_pe);
        (void)serve(&party);
    }
    for (size_t i = 0; i < party.count; i++)
        close(party.guests[i].socket);
    free(party.guests);
    return 0;
}
