/* LATERAL_JOB names a file that somebody else made. Every header that does not fit the file is refused with a line; none
 * is believed. The parts of the file follow each other, each on pages of its own with room for every PE. */
#include "base/env.h"
#include "rte/node.h"
#include "rte/rte.h"

#include "unit/check.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts the library in a child on this file, with these numbers behind the file's. Returns the child's status as waitpid gives
 * it; 0: it was taken. */
static int try_seat(const struct node *head, off_t bytes, const char *numbers)
{
    char job[64];
    int fd = memfd_create("lateral", 0), status;
    CHECK(fd >= 0 && ftruncate(fd, bytes) == 0);
    CHECK(pwrite(fd, head, sizeof *head, 0) == (ssize_t)sizeof *head);
    snprintf(job, sizeof job, "%d:%s", fd, numbers);
    pid_t child = fork();
    if (child == 0) {
        const char *why = "";
        setenv("LATERAL_JOB", job, 1);
        _exit(env_load(&why) == 0 && rte_init() == 0 ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    close(fd);
    return status;
}

static struct node good_head(void)
{
    struct node head = {0};
    const uint64_t nonce[2] = {1, 2};
    node_format(&head, 1, 1, nonce);
    return head;
}

static int is_refused(int status)
{
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

static void headers(void)
{
    const off_t whole = (off_t)node_fixed_size(1);
    struct node head = good_head();
    CHECK(try_seat(&head, whole, "0:-1") == 0);
    CHECK(is_refused(try_seat(&head, whole - 1, "0:-1")));
    CHECK(is_refused(try_seat(&head, 8192, "0:-1")));
    CHECK(is_refused(try_seat(&head, whole, "1:-1")));
    CHECK(is_refused(try_seat(&head, whole, "-1:-1")));
    CHECK(is_refused(try_seat(&head, whole, "4294967296:-1")));
    static const char *const broken[] = {"0", "0:", "0:x", "0:-1x", ":-1", "0x:-1", "0:-1:", "0:99999999999999999999"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        CHECK(is_refused(try_seat(&head, whole, broken[i])));
    static const uint32_t words[] = {0, 2, 60000, 65537, 1u << 31, UINT32_MAX};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int field = 0; field < 6; field++) {
            head = good_head();
            uint32_t *fields[] = {&head.size, &head.first, &head.total, &head.nodes, &head.scattered, &head.placed};
            const uint32_t before = *fields[field];
            *fields[field] = words[i];
            if (words[i] != before)
                CHECK(is_refused(try_seat(&head, whole, "0:-1")));
        }
    head = good_head();
    head.magic ^= 1;
    CHECK(is_refused(try_seat(&head, whole, "0:-1")));
}

static bool part_holds(size_t at, size_t next, size_t bytes)
{
    return at % 65536 == 0 && next % 65536 == 0 && next >= at + bytes && next - at - bytes < 65536;
}

static void parts(uint32_t size)
{
    const size_t pes = size, line = CACHE_LINE;
    CHECK(part_holds(0, node_groups_at(size), sizeof(struct node) + pes * sizeof(struct node_pe)));
    CHECK(part_holds(node_groups_at(size), node_counters_at(size), pes * NODE_GROUP_AREAS * NODE_GROUP_LINES * line));
    CHECK(part_holds(node_counters_at(size), node_own_at(size), pes * NODE_COUNTERS * line));
    CHECK(part_holds(node_own_at(size), node_cards_at(size), pes * NODE_PE_SHARED_BYTES));
    CHECK(part_holds(node_cards_at(size), node_table_at(size), pes * NODE_CARD_BYTES));
    CHECK(part_holds(node_table_at(size), node_waits_at(size), (NODE_MAX_NODES + 1) * sizeof(uint32_t)));
    CHECK(part_holds(node_waits_at(size), node_crashes_at(size), pes * NODE_WAITS * sizeof(struct node_wait)));
    CHECK(part_holds(node_crashes_at(size), node_fixed_size(size), pes * sizeof(struct node_crash)));
    struct node head = {.size = size, .total = 2 * size};
    CHECK(node_places_at(&head) == node_fixed_size(size) && node_places_bytes(&head) == 0);
    head.placed = 1;
    CHECK(part_holds(0, node_places_bytes(&head), 2 * pes * sizeof(uint32_t)));
}

static void numbers_of_pes(void)
{
    static _Alignas(struct node) char room[sizeof(struct node) + 3 * sizeof(struct node_pe)];
    struct node *const node = (struct node *)room;
    *node = (struct node){.size = 3, .first = 70000};
    node->pe[2].number = 9;
    for (uint32_t i = 0; i < 3; i++)
        CHECK(node_pe_number(node, i) == 70000 + i);
    node->scattered = 1;
    CHECK(node_pe_number(node, 0) == 0 && node_pe_number(node, 2) == 9);
}

int main(void)
{
    static const uint32_t sizes[] = {1, 2, 3, 64, 511, 65535, NODE_MAX_PES};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        parts(sizes[i]);
    numbers_of_pes();
    headers();
    return 0;
}
