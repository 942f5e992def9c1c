/* One-sided operations over UCX: what each of them hands on and how it ends, memory and keys, atomics of both sizes, and what the lines
 * that an older UCX prints about an endpoint tell of its networks. Newer ones name them: ucx_names.c. */
#include "ucx_onesided_library.h"

/* The text that the library prints into is not of malloc here: it may be missing, or cut short. */
static bool no_stream, no_whole;
static const char *printed;
static FILE *printing;
static char **printing_text, *printing_start;
static size_t printing_bytes;

static FILE *test_memstream(char **text, size_t *bytes)
{
    *text = 0;
    *bytes = 0;
    if (no_stream)
        return 0;
    printing_text = text;
    CHECK((printing = open_memstream(&printing_start, &printing_bytes)) != 0);
    return printing;
}

static int test_close(FILE *closed)
{
    CHECK(closed == printing && fclose(closed) == 0);
    *printing_text = malloc(printing_bytes + 1);
    CHECK(*printing_text != 0);
    memcpy(*printing_text, printing_start, printing_bytes + 1);
    printing_text = 0;
    (free)(printing_start);
    return no_whole ? EOF : 0;
}

void ucp_ep_print_info(ucp_ep_h ep, FILE *to)
{
    CHECK(ep == &lib_ep && to == printing);
    fputs(printed, to);
}

#include "transport/ucx/inner.h"

#undef UCP_API_VERSION
#define UCP_API_VERSION UCP_VERSION(1, 13)
#define open_memstream test_memstream
#define fclose test_close

#include "transport/ucx/onesided.c"

#include "transport/ucx/operation.c"

static struct ucp_worker worker;
static struct lane lane = {.worker = &worker};
static struct peer peer = {.endpoint = &lib_ep, .lane = &lane, .pe = 3, .able = TRANSPORT_ONESIDED};
static const struct transport_events events = {.finished = lib_finished};
static char source[16], dest[16];
static int token;

/* --- What a connection can do */

static unsigned can(const char *text)
{
    printed = text;
    const unsigned able = ucx_can(&lib_ep);
    CHECK(owned_count == 0);
    return able;
}

static void maps_by_lines(void)
{
    static const struct {
        const char *text;
        bool reaches;
    } rows[] = {{"", false},
                {"#\n# UCP endpoint\n#   lane[0]:  0:posix/memory.0 md[0] -> am\n#\n", true},
                {"lane[0]: 0:sysv/memory.0", true},
                {"lane[0]: 0:xpmem/memory.0", true},
                {"lane[0]: 0:posix", true},
                {"lane[0]: 0:posix_fast/memory.0", true},
                {"lane[0]: 0:posixly/memory.0", false},
                {"lane[0]: 0:posi/memory.0", false},
                {"lane[0]: 0:aposix/memory.0", false},
                {"lane[0]: 0:tcp/eth0\nlane[1]: 1:tcp/eth1", false},
                {"lane[0]: 0:tcp/eth0\nlane[1]: 1:sysv/memory.0\n", true},
                {"lane[0]: 0:sysv/memory.0\nlane[1]: 1:tcp/eth0\nno lane\n", true},
                {"lane[0]: 0:rc_mlx5/mlx5_0:1\n", false},
                {"0:0:posix/memory.0\n", false},
                {"0:0: lane[0]: 0:posix/memory.0\n", true},
                {"lane[0]: posix/memory.0\n", false},
                {"lane[0] 0 posix/memory.0\n", false},
                {"lane[0]:\n:posix/memory.0\n", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const unsigned reaches = rows[i].reaches ? TRANSPORT_REACHES : 0;
        ucx_onesided = false;
        CHECK(can(rows[i].text) == reaches);
        ucx_onesided = true;
        CHECK(can(rows[i].text) == (TRANSPORT_ONESIDED | TRANSPORT_ORDERS | reaches));
    }
}

static void without_lines(void)
{
    ucx_onesided = false;
    no_whole = true;
    CHECK(can("lane[0]: 0:posix/memory.0\n") == 0);
    no_whole = false;
    no_stream = true;
    CHECK(can("lane[0]: 0:posix/memory.0\n") == 0);
    no_stream = false;
    CHECK(can("lane[0]: 0:posix/memory.0\n") == TRANSPORT_REACHES);
}

/* Without names nobody knows what completes alone. */
static void wanted(void)
{
    CHECK(!ucx_may_use(0) && !ucx_may_use(TRANSPORT_ALONE));
    CHECK(ucx_may_use(TRANSPORT_ONESIDED) && ucx_may_use(TRANSPORT_ONESIDED | TRANSPORT_ALONE));
    CHECK(!ucx_may_use(~(unsigned)TRANSPORT_ONESIDED));
    peer.able = TRANSPORT_KNOWN | TRANSPORT_REACHES;
    CHECK(ucx_able(&peer) == (TRANSPORT_KNOWN | TRANSPORT_REACHES));
    peer.able = TRANSPORT_ONESIDED;
    CHECK(ucx_able(&peer) == TRANSPORT_ONESIDED);
}

/* --- Memory and keys */

static void memory(void)
{
    lib_status = UCS_ERR_NO_MEMORY;
    CHECK(!ucx_share(source, sizeof source));
    lib_status = UCS_OK;
    void *shared = ucx_share(source + 1, 7);
    CHECK(shared == &lib_memory && lib_memory.open && lib_memory.start == source + 1 && lib_memory.bytes == 7);
    char room[sizeof lib_packed + 1];
    size_t bytes = sizeof room;
    lib_status = UCS_ERR_UNSUPPORTED;
    CHECK(ucx_pack(shared, room, &bytes) == -1 && !lib_packed_open);
    lib_status = UCS_OK;
    for (size_t length = sizeof lib_packed - 1; length <= sizeof room; length++) {
        const bool fits = length >= sizeof lib_packed;
        memset(room, 'r', sizeof room);
        bytes = length;
        CHECK(ucx_pack(shared, room, &bytes) == (fits ? 0 : -1));
        CHECK(bytes == sizeof lib_packed && !lib_packed_open);
        for (size_t i = 0; i < sizeof room; i++)
            CHECK(room[i] == (fits && i < sizeof lib_packed ? (char)(i + 1) : 'r'));
    }
    ucx_withdraw(shared);
    CHECK(!lib_memory.open);
}

static void keys(void)
{
    lib_status = UCS_ERR_UNREACHABLE;
    CHECK(!ucx_unpack(&peer, "key", 4));
    lib_status = UCS_OK;
    void *key = ucx_unpack(&peer, "key", 4);
    CHECK(key == &lib_key && lib_key.open);
    ucx_forget(key);
    CHECK(!lib_key.open);
}

/* --- Operations */

enum { FAR = 0x7000 };
static const uint64_t place = (UINT64_C(5) << 40) + FAR;
static const struct transport_word *word;
static void *old;

static enum transport_status put(void)
{
    const enum transport_status status = ucx_put(&peer, &lib_key, place, source, 7, &token);
    CHECK(lib_what == PUT && lib_buffer == source && lib_count == 7 && lib_at == place && lib_ends_with(&token, 0));
    return status;
}

static enum transport_status get(void)
{
    const enum transport_status status = ucx_get(&peer, &lib_key, place, dest, 9, &token);
    CHECK(lib_what == GET && lib_buffer == dest && lib_count == 9 && lib_at == place && lib_ends_with(&token, 0));
    return status;
}

static enum transport_status flush(void)
{
    const enum transport_status status = ucx_flush(&peer, &token);
    CHECK(lib_what == FLUSH && lib_ends_with(&token, 0));
    return status;
}

static enum transport_status atomic(void)
{
    const enum transport_status status = ucx_atomic(&peer, &lib_key, place, word, old, &token);
    CHECK(lib_what == ATOMIC && lib_count == 1 && lib_at == place);
    CHECK(lib_ends_with(&token, UCP_OP_ATTR_FIELD_DATATYPE | (old ? UCP_OP_ATTR_FIELD_REPLY_BUFFER : 0)));
    CHECK(lib_param.datatype == ucp_dt_make_contig(word->size) && (!old || lib_param.reply_buffer == old));
    return status;
}

/* Done at once, failed at once, or under way; then no event comes before its end. */
static void ends(enum transport_status (*operation)(void))
{
    static const ucs_status_t failures[] = {UCS_ERR_NO_MESSAGE, UCS_ERR_CANCELED, UCS_ERR_LAST_ENDPOINT_FAILURE};
    lib_forget();
    CHECK(operation() == TRANSPORT_DONE && lib_finishes == 0);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        lib_answer = failures[i];
        CHECK(operation() == TRANSPORT_FAILED && lib_finishes == 0);
    }
    lib_answer = UCS_INPROGRESS;
    CHECK(operation() == TRANSPORT_PENDING && lib_finishes == 0);
    lib_end(0, UCS_OK);
    CHECK(lib_has_finished(&token, false));
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        CHECK(operation() == TRANSPORT_PENDING);
        lib_end(1 + (unsigned)i, failures[i]);
        CHECK(lib_has_finished(&token, true));
    }
}

static void atomics(void)
{
    for (size_t bytes = 0; bytes < 20; bytes++)
        CHECK(ucx_atomics(&peer, bytes) == (bytes == 4 || bytes == 8 ? TRANSPORT_ATOMICS_ALL : 0));
    peer.able = 0;
    CHECK(ucx_atomics(&peer, 4) == 0 && ucx_atomics(&peer, 8) == 0);
    peer.able = TRANSPORT_ONESIDED;
    static const ucp_atomic_op_t ops[] = {UCP_ATOMIC_OP_SWAP, UCP_ATOMIC_OP_CSWAP, UCP_ATOMIC_OP_ADD,
                                          UCP_ATOMIC_OP_AND,  UCP_ATOMIC_OP_OR,    UCP_ATOMIC_OP_XOR};
    for (unsigned what = TRANSPORT_SWAP; what <= TRANSPORT_XOR; what++)
        for (uint32_t size = 4; size <= 8; size += 4) {
            struct transport_word given;
            char before[8], after[8], fill[8];
            memset(&given.operand, 'o', 8);
            memset(&given.compare, 'c', 8);
            given.what = (enum transport_atomic)what;
            given.size = size;
            memset(before, 'b', sizeof before);
            memset(fill, 'b', sizeof fill);
            memcpy(after, before, sizeof after);
            if (what == TRANSPORT_CSWAP) /* the new value stands where the old one comes */
                memset(after, 'o', size);
            word = &given;
            old = before;
            ends(atomic);
            CHECK(lib_op == ops[what] && memcmp(before, after, sizeof after) == 0);
            CHECK(lib_buffer == (what == TRANSPORT_CSWAP ? &given.compare : &given.operand));
            if (what == TRANSPORT_SWAP || what == TRANSPORT_CSWAP)
                continue;
            old = 0;
            ends(atomic);
            CHECK(lib_op == ops[what] && lib_buffer == &given.operand);
        }
}

static void fences(void)
{
    ucx_order(&lane);
    CHECK(worker.fences == 1);
    ucx_order(&lane);
    CHECK(worker.fences == 2);
}

int main(void)
{
    ucx_context = &lib_context;
    ucx_events = &events;
    maps_by_lines();
    without_lines();
    wanted();
    memory();
    keys();
    ends(put);
    ends(get);
    ends(flush);
    atomics();
    fences();
    lib_forget();
    CHECK(owned_count == 0);
    return 0;
}
