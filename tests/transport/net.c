#include "transport/net.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

struct net net;

struct head {
    uint32_t from, from_lane, to, to_lane;
    uint64_t number; /* among the short, or the long, messages of the pair */
    uint64_t before; /* short messages that were sent before */
    uint64_t bytes, header_bytes, seed;
};
enum { HEADER = 256 };

struct sent {
    struct net_op op;
    char header[HEADER], *data;
    size_t bytes;
};

struct net_kept {
    struct net_op op;
    struct head head;
    void *rest;
    char *data;
    struct net_kept *next;
};

void net_fail(const char *place, const char *condition, const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    fprintf(stderr, "%s: %s: ", place, condition);
    vfprintf(stderr, text, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    fflush(stderr);
    _exit(1);
}

/* splitmix64 */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t net_random(struct net_worker *worker)
{
    return mix(worker->random += 0x9E3779B97F4A7C15u);
}

void net_fill(void *data, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i += sizeof seed) {
        const uint64_t word = mix(seed + i);
        memcpy((char *)data + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
    }
}

bool net_same(const void *data, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i += sizeof seed) {
        const uint64_t word = mix(seed + i);
        if (memcmp((const char *)data + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word) != 0)
            return false;
    }
    return true;
}

/* Where a test lets one allocation fail, the next one succeeds. */
void *net_alloc(size_t bytes)
{
    void *made = 0;
    for (int i = 0; !made && i < 3; i++)
        made = calloc(1, bytes ? bytes : 1);
    CHECK(made, "the test has no memory");
    return made;
}

struct net_worker *net_worker(int pe, int number)
{
    return &net.worker[pe][number];
}

const struct transport *net_of(const struct net_worker *worker)
{
    return net.at[worker->pe];
}

/* --- Operations */

struct net_op net_begin(struct net_worker *worker)
{
    worker->under_way++;
    return (struct net_op){.pending = true, .worker = worker};
}

static void op_ends(struct net_op *op, bool failed)
{
    CHECK(op->pending && !op->ended, "a token ends once");
    op->ended = 1;
    op->failed = failed;
    op->pending = false;
    op->worker->under_way--;
    op->worker->failed |= failed;
    CHECK(!failed || net.may_fail, "PE %d: an operation has failed", op->worker->pe);
    if (op->end)
        op->end(op);
}

static void finished(void *token, int failed)
{
    op_ends(token, failed != 0);
}

void net_judge(struct net_op *op, enum transport_status status)
{
    CHECK(status == TRANSPORT_DONE || status == TRANSPORT_PENDING || status == TRANSPORT_FAILED, "status %d", status);
    if (status != TRANSPORT_PENDING)
        op_ends(op, status == TRANSPORT_FAILED);
}

void net_wait(struct net_op *op)
{
    NET_UNTIL(op->ended);
}

/* --- Sending */

/* The memory is the caller's again. */
static void sent_ends(struct net_op *op)
{
    struct sent *sent = (struct sent *)op;
    memset(sent->header, 0xEE, sizeof sent->header);
    memset(sent->data, 0xEE, sent->bytes);
    free(sent->data);
    free(sent);
}

void *net_to(struct net_worker *from, int pe, int number)
{
    void **to = &from->to[pe][number];
    const size_t bytes = __atomic_load_n(&net.shared->bytes[pe][number], __ATOMIC_ACQUIRE);
    CHECK(bytes, "PE %d has published its address", pe);
    if (!*to)
        *to = net_of(from)->connect(from->at, pe, net.shared->address[pe][number], bytes);
    from->failed |= !*to;
    CHECK(*to || net.may_fail, "PE %d connects to PE %d", from->pe, pe);
    return *to;
}

static size_t make_header(struct net_worker *from, int pe, int number, struct sent *sent)
{
    struct net_pair *pair = &net.pairs[from->pe][from->number][pe][number];
    const bool is_short = sent->bytes <= TRANSPORT_SHORT;
    struct head head = {(uint32_t)from->pe,
                        (uint32_t)from->number,
                        (uint32_t)pe,
                        (uint32_t)number,
                        is_short ? pair->shorts : pair->longs,
                        pair->shorts,
                        sent->bytes,
                        0,
                        net_random(from)};
    is_short ? pair->shorts++ : pair->longs++;
    head.header_bytes = sizeof head + net_below(from, HEADER - sizeof head);
    memcpy(sent->header, &head, sizeof head);
    net_fill(sent->header + sizeof head, head.header_bytes - sizeof head, ~head.seed);
    net_fill(sent->data, sent->bytes, head.seed);
    return head.header_bytes;
}

enum transport_status net_send(struct net_worker *from, int pe, int number, size_t bytes)
{
    void *to = net_to(from, pe, number);
    if (!to)
        return TRANSPORT_FAILED;
    struct sent *sent = net_alloc(sizeof *sent);
    sent->op = net_begin(from);
    sent->op.end = sent_ends;
    sent->bytes = bytes;
    sent->data = net_alloc(bytes);
    const size_t header_bytes = make_header(from, pe, number, sent);
    const enum transport_status status =
        net_of(from)->send(to, sent->header, header_bytes, bytes ? sent->data : 0, bytes, sent);
    if (status != TRANSPORT_PENDING)
        net_judge(&sent->op, status);
    return status;
}

/* --- Arrival */

static struct head read_header(struct net_worker *worker, const struct transport_message *message)
{
    struct head head;
    CHECK(message->header_bytes >= sizeof head, "a header of %zu bytes", message->header_bytes);
    memcpy(&head, message->header, sizeof head);
    CHECK(head.header_bytes == message->header_bytes && head.bytes == message->bytes, "the lengths are those sent");
    CHECK(net_same((const char *)message->header + sizeof head, head.header_bytes - sizeof head, ~head.seed),
          "the header is whole");
    CHECK((int)head.to == worker->pe && (int)head.to_lane == worker->number, "it arrives on the worker it was sent to");
    return head;
}

static void count(const struct head *head)
{
    struct net_pair *pair = &net.pairs[head->from][head->from_lane][head->to][head->to_lane];
    if (head->bytes <= TRANSPORT_SHORT) {
        CHECK(head->number == pair->got_shorts, "short message %lu from PE %u comes in place of %lu",
              (unsigned long)head->number, head->from, (unsigned long)pair->got_shorts);
        pair->got_shorts++;
        return;
    }
    CHECK(head->before <= pair->got_shorts, "long message %lu comes before short ones sent earlier",
          (unsigned long)head->number);
    CHECK(head->number < NET_LONGS && !pair->came[head->number], "it comes once");
    pair->came[head->number] = true;
    pair->got_longs++;
}

static void kept_ends(struct net_op *op)
{
    struct net_kept *kept = (struct net_kept *)op;
    CHECK(op->failed || net_same(kept->data, kept->head.bytes, kept->head.seed), "long data is whole");
    free(kept->data);
    free(kept);
}

static void fetch(struct net_worker *worker, struct net_kept *kept)
{
    kept->op = net_begin(worker);
    kept->op.end = kept_ends;
    net_judge(&kept->op, net_of(worker)->receive(worker->at, kept->rest, kept->data, kept->head.bytes, kept));
}

void net_fetch(struct net_worker *worker)
{
    uint64_t number = 0, which;
    for (const struct net_kept *kept = worker->kept; kept; kept = kept->next)
        number++;
    if (!number)
        return;
    which = net_below(worker, number);
    struct net_kept **at = &worker->kept, *kept;
    while (which--)
        at = &(*at)->next;
    kept = *at;
    *at = kept->next;
    fetch(worker, kept);
}

static void arrived(void *owner, const struct transport_message *message)
{
    struct net_worker *worker = owner;
    const struct head head = read_header(worker, message);
    count(&head);
    CHECK(!message->rest || !message->data, "held back data is not there");
    if (!message->rest) {
        CHECK(net_same(message->data, message->bytes, head.seed), "data is whole");
    } else {
        struct net_kept *kept = net_alloc(sizeof *kept);
        *kept = (struct net_kept){.head = head, .rest = message->rest, .data = net_alloc(head.bytes)};
        if (net_below(worker, 100) < worker->late) {
            kept->next = worker->kept;
            worker->kept = kept;
        } else {
            fetch(worker, kept);
        }
    }
    if (worker->heard)
        worker->heard(worker, (int)head.from, (int)head.from_lane);
}

static void broken(void *owner, int pe, const char *why)
{
    struct net_worker *worker = owner;
    CHECK(pe >= 0 && pe < net.pes && why && *why, "broken names PE %d and a reason", pe);
    worker->broken[pe]++;
    worker->failed = true;
    CHECK(net.may_fail, "PE %d loses PE %d: %s", worker->pe, pe, why);
}

/* --- Progress */

int net_progress(struct net_worker *worker)
{
    if (worker->kept && net_below(worker, 4) == 0)
        net_fetch(worker);
    return net_of(worker)->progress(worker->at);
}

int net_pump(void)
{
    static struct net_worker chance;
    const int all = net.pes * net.workers;
    int happened = 0;
    chance.random += net.seed;
    const int first = (int)net_below(&chance, (uint64_t)all);
    for (int i = 0; i < all; i++) {
        struct net_worker *worker = net_worker((first + i) % all / net.workers, (first + i) % net.workers);
        if (net.at[worker->pe] && worker->at && net_below(&chance, 8))
            happened += net_progress(worker);
    }
    return happened;
}

void net_idle(int happened)
{
    if (!happened)
        sched_yield();
}

static bool pair_settled(const struct net_worker *from, const struct net_worker *to)
{
    const struct net_pair *pair = &net.pairs[from->pe][from->number][to->pe][to->number];
    return pair->shorts == pair->got_shorts && pair->longs == pair->got_longs;
}

bool net_settled(void)
{
    for (int i = 0; i < net.pes * net.workers; i++) {
        const struct net_worker *from = net_worker(i / net.workers, i % net.workers);
        if (net.at[from->pe] && (from->under_way || from->kept))
            return false;
        for (int k = 0; k < net.pes * net.workers; k++) {
            const struct net_worker *to = net_worker(k / net.workers, k % net.workers);
            if (net.at[from->pe] && net.at[to->pe] && !pair_settled(from, to))
                return false;
        }
    }
    return true;
}

void net_settle(void)
{
    NET_UNTIL(net_settled());
}

/* --- Modules */

static void copy_file(const char *from, const char *to)
{
    struct stat file;
    const int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    CHECK(in >= 0 && out >= 0 && fstat(in, &file) == 0, "%s", from);
    for (off_t left = file.st_size; left > 0;) {
        const ssize_t more = sendfile(out, in, 0, (size_t)left);
        CHECK(more > 0, "%s", to);
        left -= more;
    }
    close(in);
    close(out);
}

/* A module's copy has state of its own. The one behind it is looked for in the same folder. */
static const char *folder_of(int pe)
{
    static char folder[NET_PES][64];
    if (!*folder[pe]) {
        snprintf(folder[pe], sizeof folder[pe], "/tmp/lateral-transport-XXXXXX");
        CHECK(mkdtemp(folder[pe]), "a folder for the modules");
    }
    return folder[pe];
}

void net_plan(const char *wrapper, const char *plan, bool more)
{
    char old[256], made[512] = "", *rest = old;
    snprintf(old, sizeof old, "%s", getenv("LATERAL_TRANSPORTS"));
    for (char *part; (part = strsep(&rest, ":"));) {
        const bool is = strncmp(part, wrapper, strlen(wrapper)) == 0;
        snprintf(made + strlen(made), sizeof made - strlen(made), "%s%.*s%s%s", *made ? ":" : "",
                 is && !more ? (int)strcspn(part, ",") : 255, part, is ? "," : "", is ? plan : "");
    }
    setenv("LATERAL_TRANSPORTS", made, 1);
}

static void for_each_module(int pe, void (*action)(const char *from, const char *to))
{
    char list[128], path[PATH_MAX], from[PATH_MAX], *rest = list;
    snprintf(list, sizeof list, "%s", net.list);
    for (char *name; (name = strsep(&rest, ":"));) {
        name[strcspn(name, ",")] = 0;
        snprintf(path, sizeof path, "%s/liblateral-%s.so", folder_of(pe), name);
        snprintf(from, sizeof from, "%s/liblateral-%s.so", net.modules, name);
        action(from, path);
    }
}

static void remove_file(const char *from, const char *to)
{
    (void)from;
    unlink(to);
}

static void load(int pe)
{
    char path[PATH_MAX];
    for_each_module(pe, copy_file);
    snprintf(path, sizeof path, "%s/liblateral-%.*s.so", folder_of(pe), (int)strcspn(net.list, ",:"), net.list);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(module, "%s", dlerror());
    net.at[pe] = dlsym(module, TRANSPORT_SYMBOL);
    CHECK(net.at[pe], "the module has a symbol " TRANSPORT_SYMBOL);
}

static void remove_copies(int pe)
{
    for_each_module(pe, remove_file);
    rmdir(folder_of(pe));
}

static const char *open_own_worker(int pe)
{
    static const struct transport_events events = {arrived, finished, broken};
    const char *why = net.at[pe]->open(&events, pe, net.pes, net.onesided);
    for (int i = 0; !why && i < net.workers; i++) {
        struct net_worker *worker = net_worker(pe, i);
        *worker = (struct net_worker){.pe = pe,
                                      .number = i,
                                      .late = worker->late,
                                      .random = mix(net.seed * 64 + (uint64_t)(pe * NET_WORKERS + i))};
        why = net.at[pe]->open_worker(worker, &worker->at);
        size_t bytes = NET_ADDRESS;
        if (!why && net.at[pe]->address(worker->at, net.shared->address[pe][i], &bytes) != 0)
            why = "it has no address";
        if (!why)
            __atomic_store_n(&net.shared->bytes[pe][i], bytes, __ATOMIC_RELEASE);
    }
    return why;
}

static void prepare(int pes, int workers)
{
    net.pes = pes;
    net.workers = workers;
    if (net.shared)
        return;
    net.pairs = net_alloc(sizeof *net.pairs * NET_PES);
    net.shared = mmap(0, sizeof *net.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(net.shared != MAP_FAILED, "shared memory");
}

const char *net_open(int first, int count, int pes, int workers)
{
    const char *why = 0;
    prepare(pes, workers);
    for (int pe = first; !why && pe < first + count; pe++) {
        load(pe);
        why = open_own_worker(pe);
        remove_copies(pe);
    }
    return why;
}

void net_start(int pes, int workers)
{
    const char *why = net_open(0, pes, pes, workers);
    CHECK(!why, "%s", why);
}

const char *net_reopen(int pe)
{
    memset(net.pairs, 0, sizeof *net.pairs * NET_PES);
    return open_own_worker(pe);
}

void net_close(int pe)
{
    net.at[pe]->close();
    for (int i = 0; i < net.workers; i++)
        net_worker(pe, i)->at = 0;
}
