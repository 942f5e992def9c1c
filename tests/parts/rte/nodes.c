/* How the nodes of a job learn of each other from what their leads have told a launcher, and how PEs tell each other values. The launcher
 * is memory that the processes of the test share. What a peer tells may be anything. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int open_made_up(const char *path, int flags);
static int gethostname_made_up(char *name, size_t bytes);
#define open open_made_up
#define gethostname gethostname_made_up
#include "rte/nodes.c"
#undef open
#undef gethostname

#include "rte/barrier.c"
#include "rte/exchange.c"
#include "rte/stay.c"

#include "rte/wire.h"

#include "nodes_job.h"

#include "unit/check.h"

/* How often leads ask, while nodes learn. */
static void job_asks(const char *places)
{
    job(places);
    for (int pe = 0; pe < npes; pe++) /* values of other nodes were asked for as well */
        shared->gets[pe] -= nodes == 1 ? 0 : 2 * (npes - size_of_node(node_of_pe[pe]));
    shared->fences -= nodes == 1 ? 0 : 4;
    have_asked();
}

/* ---- what a lead tells ---- */

static struct {
    struct entry entry;
    struct rte_run runs[3];
} told;
static size_t told_bytes;

static int tells(int pe, const char *key, void **value, size_t *bytes)
{
    CHECK(pe == 5 && strcmp(key, KEY) == 0);
    *value = malloc(sizeof told);
    CHECK(*value);
    memcpy(*value, &told, sizeof told);
    *bytes = told_bytes;
    return 0;
}

static bool believed(size_t bytes, uint32_t runs)
{
    static const struct rte_backend liar = {.get = tells};
    rte_backend = &liar;
    told_bytes = bytes;
    told.entry.runs = runs;
    struct entry *entry = ask(5);
    const bool taken = entry != 0;
    CHECK(!taken || entry->runs == runs);
    free(entry);
    return taken;
}

static void leads_tell(void)
{
    enum { HEAD = sizeof(struct entry), RUN = sizeof(struct rte_run) };
    CHECK(believed(HEAD + RUN, 1) && believed(HEAD + 3 * RUN, 3) && believed(HEAD, 0));
    CHECK(!believed(HEAD - 1, 0) && !believed(0, 0) && !believed(HEAD + 1, 0) && !believed(HEAD + RUN - 1, 1));
    CHECK(!believed(HEAD + RUN, 0) && !believed(HEAD + RUN, 2) && !believed(HEAD + RUN + 1, 1));
    CHECK(!believed(HEAD + RUN, UINT32_MAX) && !believed(HEAD + 2 * RUN - 1, 1));
    struct rte_all_shapes all = {.nonce = {0, 0}};
    CHECK(!has_key(&all));
    all.nonce[0] = 1;
    CHECK(has_key(&all));
    all = (struct rte_all_shapes){.nonce = {0, UINT64_C(1) << 63}};
    CHECK(has_key(&all));
}

/* ---- the machine ---- */

static const char *boot, *host; /* null: there is none */

static int open_made_up(const char *path, int flags)
{
    int ends[2];
    if (!boot || strcmp(path, "/proc/sys/kernel/random/boot_id") != 0 || pipe2(ends, flags & O_CLOEXEC) != 0)
        return -1;
    CHECK(write(ends[1], boot, strlen(boot)) == (ssize_t)strlen(boot) && close(ends[1]) == 0);
    return ends[0];
}

static int gethostname_made_up(char *name, size_t bytes)
{
    if (!host)
        return -1;
    snprintf(name, bytes, "%s", host);
    return 0;
}

static uint64_t machine(const char *boot_id, const char *name)
{
    const int next = dup(STDERR_FILENO);
    CHECK(close(next) == 0);
    boot = boot_id;
    host = name;
    const uint64_t id = machine_id();
    CHECK(dup(STDERR_FILENO) == next && close(next) == 0);
    return id;
}

static void machines(void)
{
    const uint64_t one = machine("1234-5678", "host");
    CHECK(machine("1234-5678", "other") == one && machine("1234-5678", 0) == one &&
          machine("1234-5679", "host") != one);
    CHECK(machine(0, "host") != one && machine(0, "host") == machine("", "host") &&
          machine(0, "host") != machine(0, "other"));
    CHECK(machine(0, "1234-5678") == one && machine(0, 0) == machine("", 0) && machine(0, 0) != machine(0, "host"));
    close(STDIN_FILENO); /* the file has number 0 */
    CHECK(machine("1234-5678", "host") == one && open("/dev/null", O_RDONLY) == STDIN_FILENO);
}

/* ---- numbers of more than 16 bits ---- */

static void large_jobs(void)
{
    enum { LARGE = 200000 };
    static struct node head;
    uint32_t *places = calloc(LARGE + 1, sizeof *places);
    CHECK(places);
    rte = (struct rte){.npes = LARGE, .node_first = 70000, .node_size = 3, .node = &head};
    head.first = 70000;
    CHECK(rte_index_of(70000) == 0 && rte_index_of(70002) == 2 && rte_on_my_node(70002) && !rte_on_my_node(70003));
    CHECK(!rte_on_my_node(69999) && !rte_on_my_node(70001 - 65536) && !rte_on_my_node(70001 + 65536));
    rte.node_first = 4000;
    CHECK(rte_on_my_node(4002) && !rte_on_my_node(4001 + 65536) && !rte_on_my_node(4001 + 131072));
    head.scattered = 1;
    rte.places = places;
    places[70000] = NODE_NEAR;
    places[131073] = NODE_NEAR | 2;
    places[1] = 9;
    places[LARGE] = NODE_NEAR; /* behind the last */
    CHECK(rte_index_of(70000) == 0 && rte_index_of(131073) == 2 && rte_on_my_node(131073));
    CHECK(rte_index_of(1) == UINT32_MAX && rte_index_of(LARGE) == UINT32_MAX && rte_index_of(LARGE + 1) == UINT32_MAX);
    CHECK(rte_index_of(-1) == UINT32_MAX && rte_index_of(65536 * 4) == UINT32_MAX && !rte_on_my_node(2));
    CHECK(rte_node_of(1) == 8);
    rte.places = 0;
    free(places);
    table = (uint32_t[]){0, 70000, LARGE};
    rte.nodes = 2;
    CHECK(rte_node_of(69999) == 0 && rte_node_of(70000) == 1 && rte_node_of(LARGE - 1) == 1);
    table = one_node;
    head.nodes = 1;
    rte.node_size = LARGE;
    CHECK(rte_nodes_learn() == 0 && rte.nodes == 1 && rte_node_lead(0) == 0 && rte_node_lead(1) == LARGE);
}

/* ---- barriers ---- */

static bool withdraws(uint32_t round, uint64_t arrived, uint64_t left)
{
    struct node node = {.size = 3, .arrived = arrived};
    const bool taken_back = barrier_withdraw(&node, round);
    CHECK(node.arrived == left);
    return taken_back;
}

static void last_of_all(void *count)
{
    ++*(int *)count;
}

static void barriers(void)
{
    const uint64_t round = UINT64_C(5) << 32;
    struct node node = {.size = 1, .round = 70000, .arrived = UINT64_C(70000) << 32};
    int count = 0;
    CHECK(withdraws(5, round | 2, round | 1) && withdraws(5, round | 1, round));
    CHECK(!withdraws(5, round | 3, round | 3)); /* all have come */
    CHECK(!withdraws(4, round | 1, round | 1) && !withdraws(6, round | 2, round | 2));
    rte.node = &node;
    rte_node_barrier();
    CHECK(node.round == 70001 && node.arrived == UINT64_C(70001) << 32);
    rte_node_barrier_last(last_of_all, &count);
    CHECK(count == 1 && node.round == 70002 && rte_node_barrier_within(0) && node.round == 70003);
    node.size = 2;
    CHECK(!rte_node_barrier_within(0) && node.round == 70003 && node.arrived == UINT64_C(70003) << 32);
}

/* ---- waits that last ---- */

static const struct node_awaited awaited = {.about = NODE_ABOUT_PES,
                                            .compare = ">=",
                                            .start = 3,
                                            .stride = 2,
                                            .size = 5,
                                            .object = 1ull << 40,
                                            .number = 1ull << 41};

/* Returns the records of the second PE of two, as others see them. */
static const struct node_stay *records(void)
{
    static struct node head;
    const size_t at = node_stays_at(2);
    rte = (struct rte){.npes = 2, .node_size = 2, .node_index = 1, .node = &head};
    head.size = 2;
    rte.fd = memfd_create("lateral", MFD_CLOEXEC);
    CHECK(rte.fd >= 0 && ftruncate(rte.fd, (off_t)node_fixed_size(2)) == 0);
    const struct node_stay *all = mmap(0, 2 * NODE_STAYS * sizeof *all, PROT_READ, MAP_SHARED, rte.fd, (off_t)at);
    CHECK(all != MAP_FAILED);
    return all + NODE_STAYS;
}

static void check_record(const struct node_stay *stay, const char *text)
{
    CHECK(stay->state == NODE_STAY_VALID && stay->thread == gettid() && stay->since == 1ull << 42);
    CHECK(memcmp(&stay->on, &awaited, sizeof awaited) == 0 && strcmp(stay->text, text) == 0);
    CHECK(stay->heap == 0x123456789000 && stay->heap_bytes == 1ull << 33);
    CHECK(stay->depth > 2 && stay->depth <= NODE_STAY_FRAMES && stay->frames[0] && stay->frames[stay->depth - 1]);
    for (uint32_t i = stay->depth; i < NODE_STAY_FRAMES; i++)
        CHECK(!stay->frames[i]);
}

static uint32_t waits(const char *text)
{
    return rte_stay_begin(&awaited, text, 1ull << 42, 0x123456789000, 1ull << 33);
}

static bool child_waits(bool is_pe, struct node *node)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        if (is_pe)
            rte_is_this_process();
        rte.node = node;
        _exit((int)waits(0));
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status) != 0;
}

/* More callers than a record has room for. */
__attribute__((noinline)) static uint32_t waits_deep(int deeper)
{
    volatile uint32_t stay = deeper > 0 ? waits_deep(deeper - 1) : waits("deep");
    return stay;
}

static void waits_that_last(void)
{
    rte_is_this_process();
    const struct node_stay *stay = records();
    CHECK(!child_waits(true, 0) && !child_waits(false, rte.node) && stay->state == NODE_STAY_FREE);
    char text[] = "a name that is too long for the record, whose last letters are left out";
    CHECK(waits(text) == 1 && waits(0) == 2);
    text[NODE_STAY_TEXT - 1] = 0;
    check_record(&stay[0], text);
    check_record(&stay[1], "");
    rte_stay_looked(2, UINT64_MAX);
    rte_stay_looked(2, 1ull << 35);
    CHECK(stay[1].value == 1ull << 35 && stay[1].looks == 2 && stay[0].looks == 0 && stay[1].version == 0);
    rte_stay_renew(1, &awaited, "anew");
    CHECK(stay[0].version == 2 && strcmp(stay[0].text, "anew") == 0 && stay[0].state == NODE_STAY_VALID);
    for (uint32_t i = 3; i <= NODE_STAYS; i++)
        CHECK(waits(0) == i);
    CHECK(waits(0) == 0);
    rte_stay_end(2);
    CHECK(stay[1].state == NODE_STAY_FREE && stay[0].state == NODE_STAY_VALID && waits("again") == 2);
    check_record(&stay[1], "again");
    CHECK(!stay[-1].state && !stay[-NODE_STAYS].state);
    const struct node_stay next = stay[1];
    rte_stay_end(1);
    CHECK(waits_deep(40) == 1 && stay->depth == NODE_STAY_FRAMES && memcmp(&stay[1], &next, sizeof next) == 0);
    check_record(&stay[0], "deep");
}

/* ---- cards ---- */

static struct card card;

static bool holds(const char *key, const char *value, size_t bytes)
{
    size_t found;
    const char *there = find(&card, key, &found);
    return there && found == bytes && memcmp(there, value, bytes) == 0;
}

static void cards_hold(void)
{
    static const char many[sizeof card.records];
    char key[RTE_KEY_BYTES + 2] = "";
    size_t bytes;
    memset(key, 'k', RTE_KEY_BYTES);
    CHECK(write_card(&card, "one", "1", 1) == 0 && write_card(&card, key, "22", 2) == 0);
    CHECK(card.used == record_bytes(3, 1) + record_bytes(RTE_KEY_BYTES, 2) && card.used % 8 == 0);
    CHECK(write_card(&card, "none", "", 0) == 0 && holds("none", "", 0) && holds("one", "1", 1) && holds(key, "22", 2));
    CHECK(!find(&card, "on", &bytes) && !find(&card, "onf", &bytes) && !find(&card, "one1", &bytes));
    CHECK(write_card(&card, "one", "3", 1) == -1 && holds("one", "1", 1));
    key[RTE_KEY_BYTES] = 'k';
    CHECK(write_card(&card, key, "3", 1) == -1);
    const size_t left = sizeof card.records - card.used, most = left - sizeof(struct record) - 4;
    CHECK(write_card(&card, "more", many, most + 1) == -1 && write_card(&card, "more", many, most) == 0);
    CHECK(card.used == sizeof card.records && holds("more", many, most) && write_card(&card, "x", "", 0) == -1);
}

/* Words of a card are its owner's; a reader stays within the card. */
static void cards_lie(void)
{
    size_t bytes;
    memset(&card, 0, sizeof card);
    CHECK(write_card(&card, "one", "1", 1) == 0 && write_card(&card, "two", "22", 2) == 0);
    const uint32_t used = card.used;
    struct record *const first = (struct record *)card.records;
    card.used = UINT32_MAX;
    CHECK(holds("two", "22", 2) && !find(&card, "three", &bytes) && used_of(&card) == sizeof card.records);
    for (card.used = 0; card.used < used; card.used++)
        CHECK(!find(&card, "two", &bytes) && (card.used >= used / 2) == (find(&card, "one", &bytes) != 0));
    first->bytes = UINT32_MAX;
    CHECK(!find(&card, "one", &bytes) && !find(&card, "two", &bytes));
    first->bytes = 1;
    first->key_bytes = UINT32_MAX;
    CHECK(!find(&card, "one", &bytes) && !find(&card, "two", &bytes));
}

/* ---- text for launchers ---- */

static void texts(void)
{
    unsigned char bytes[7] = {0, 0xff, 0x10, 0x83, 0xfb, 0x7e, 1}, back[8];
    static const char *const wanted[] = {"", "AA", "AP8", "AP8Q", "AP8Qgw", "AP8Qg_s", "AP8Qg_t-", "AP8Qg_t-AQ"};
    char text[16];
    for (size_t count = 0; count <= sizeof bytes; count++) {
        wire_encode(text, bytes, count);
        if (strcmp(text, wanted[count]) != 0)
            fprintf(stderr, "%zu bytes: %s\n", count, text);
        CHECK(strcmp(text, wanted[count]) == 0);
        memset(back, 0xee, sizeof back);
        CHECK(wire_decode(back, text) == (long)count && memcmp(back, bytes, count) == 0 && back[count] == 0xee);
    }
    CHECK(wire_decode(back, "A") == -1 && wire_decode(back, "AAAAA") == -1);
    CHECK(wire_decode(back, "A=") == -1 && wire_decode(back, "AA A") == -1 && wire_decode(back, "AAA+") == -1);
}

int main(void)
{
    static const char *const jobs[] = {"0", "000", "01", "0011", "0111", "00112", "0101", "010212", "000001112345"};
    shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    machines();
    boot = "the same for all";
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        job_asks(jobs[i]);
    leads_tell();
    large_jobs();
    waits_that_last();
    barriers();
    cards_hold();
    cards_lie();
    texts();
    rte_backend = 0; /* nobody is told of the end */
    return 0;
}
