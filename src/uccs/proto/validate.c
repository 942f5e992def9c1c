/* Checks each message where it enters, by the description in wire.def. Whoever handles the message later relies on it.
 * Any thread; reads the header alone. */
#include "uccs/proto/inner.h"

#include "uccs/core/pe_shared.h"

unsigned proto_wire;
bool proto_has_direct;

#define MEMORY (1 << PROTO_HEAP | 1 << PROTO_IMAGE | 1 << PROTO_REGION)
#define OVERLAP_MOST ((uint64_t)64 << 20) /* bytes of blocks that overlap */
#define ANYWHERE (MEMORY | 1 << PROTO_ROWS | 1 << PROTO_LANDING)

static bool is_in(uint32_t segment, uint32_t segments)
{
    return segment < PROTO_SEGMENTS && segments >> segment & 1;
}

static bool is_notice(const struct wire_notify *notice)
{
    if (notice->what != PROTO_SIGNAL_SET && notice->what != PROTO_SIGNAL_ADD)
        return notice->what < PROTO_SIGNAL_SET;
    return is_in(notice->signal_segment, ANYWHERE);
}

/* Returns true when the blocks have bytes, and count, stride and the sum of the bytes keep every byte of every block within 2^63
 * bytes of the segment's start, one more stride included: a loop that steps behind the last block computes nothing that wraps. */
static bool is_span(uint64_t offset, uint64_t block, uint64_t count, int64_t stride)
{
    int64_t bytes, reach, last, end;
    return block && count && offset <= INT64_MAX && count <= INT64_MAX && block <= INT64_MAX &&
           !__builtin_mul_overflow((int64_t)block, (int64_t)count, &bytes) &&
           !__builtin_mul_overflow((int64_t)count, stride, &reach) &&
           !__builtin_add_overflow((int64_t)offset, reach, &end) && !__builtin_sub_overflow(end, stride, &last) &&
           last >= 0 && last <= INT64_MAX - (int64_t)block && (int64_t)offset <= INT64_MAX - (int64_t)block;
}

/* Blocks of a get that lie apart are no more than the memory holds, and one header asks for as much as one likes of blocks that
 * overlap. */
static bool is_gathered(uint64_t block, uint64_t count, int64_t stride)
{
    const uint64_t apart = stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
    return count == 1 || apart >= block || block * count <= OVERLAP_MOST;
}

static bool is_change(const struct wire_header *h, size_t bytes)
{
    const struct uccs_accumulate_op asked = {h->change.type, h->change.how, h->change.n};
    return uccs_accumulate_exists(&asked) && (asked.how != UCCS_ACCUMULATE_SWAP || asked.n == 1) && asked.n &&
           uccs_accumulate_bytes(&asked) <= TRANSPORT_SHORT &&
           proto_operand_data(uccs_accumulate_operand(&asked)) == bytes;
}

static bool is_pieces(const struct wire_header *h, size_t bytes)
{
    const struct uccs_accumulate_op asked = {h->pieces.type, h->pieces.how, 1};
    return uccs_accumulate_exists(&asked) && asked.how != UCCS_ACCUMULATE_SWAP && !h->pieces.none && h->pieces.n &&
           h->pieces.n <= bytes / sizeof(struct proto_piece);
}

static bool is_counted(const struct wire_header *h)
{
    return h->segment != PROTO_REGION && uccs_counter_slot(h->key.counter) < NODE_JOB_COUNTERS;
}

/* Some of the library's own messages stay on the node, since they name memory of the node. */
static bool is_sent_far(const struct wire_header *h)
{
    return h->am.context != PE_SHARED_LIBRARY_CONTEXT ||
           (h->am.ring == 0 && (h->am.id == UCCS_INNER_TAGGED || h->am.id == UCCS_INNER_OOB));
}

#define RULE(condition, words)      \
    if (lat_unlikely(!(condition))) \
        return words;
#define PLACE(segments) RULE(is_in(h->segment, segments), "it names memory that no such message reaches")
#define NO_NOTICE "its notice is none"
#define NOTICE RULE(is_notice(&h->put), NO_NOTICE)
#define TOKEN(field) RULE(h->field, "it has no token")
#define BELOW(field, n) RULE(h->field < (n), "its " #field " is too large")
#define SPAN(block, count, stride) \
    RULE(is_span(h->at.offset, block, count, stride), "its blocks reach beyond any memory")
#define NO_DATA RULE(bytes == 0, "it brings data")
#define DATA_MOST(n) RULE(bytes <= (n), "it brings too much data")
#define DATA_UNITS(n) RULE(bytes % (n) == 0, "its data is cut off")
#define TAIL(field, most, part)                                                                \
    RULE(h->field <= (most) && h->field * sizeof(part) <= bytes, "its " #field " are cut off") \
    bytes -= h->field * sizeof(part);
#define DATA_BLOCKS(field) RULE(h->field &&bytes &&bytes % h->field == 0, "its data is not a number of blocks")

/* The validator of each kind: returns null, or what is wrong. */
#define WIRE(kind, answer, rules)                                              \
    static const char *valid_##kind(const struct wire_header *h, size_t bytes) \
    {                                                                          \
        (void)h, (void)bytes;                                                  \
        rules return 0;                                                        \
    }
#include "uccs/proto/wire.def"
#undef WIRE

static const struct {
    const char *name;
    const char *(*valid)(const struct wire_header *h, size_t bytes);
    enum proto_wire_kind answer;
} wire[] = {
#define WIRE(kind, answer, rules) [WIRE_##kind] = {#kind, valid_##kind, answer},
#include "uccs/proto/wire.def"
};
_Static_assert(sizeof wire / sizeof *wire == WIRE_KINDS, "wire.def describes every kind");

enum proto_wire_kind proto_wire_answer(enum proto_wire_kind asked)
{
    return wire[asked].answer;
}

const char *proto_wire_kind_name(enum proto_wire_kind kind)
{
    return wire[kind].name;
}

static lat_cold _Noreturn void refuse_message(const struct wire_header *h, size_t bytes, const char *why)
{
    const char *name = h->kind < WIRE_KINDS ? wire[h->kind].name : "message of no kind";
    uccs_fail("PE %u sent a wrong %s: %s (worker %u, segment %u, %zu bytes of data)", h->from, name, why, h->worker,
              h->segment, bytes);
}

/* PEs of this node, and this one, send what the network's atomics on their memory need: keys, and no operation. */
static bool may_send(int pe, uint8_t kind)
{
    if (lat_likely(uccs_far_pe(pe)))
        return true;
    if (!proto_has_direct || pe >= uccs_core.npes)
        return false;
    return kind == WIRE_KEY || kind == WIRE_KEYED || kind == WIRE_HELLO || kind == WIRE_FLUSH || kind == WIRE_FLUSHED ||
           kind == WIRE_BATCH;
}

void proto_wire_check(const struct wire_header *header, size_t bytes)
{
    const char *why = 0;
    if (lat_unlikely(!may_send((int)header->from, header->kind)))
        why = "that PE is not one of another node";
    else if (lat_unlikely(header->worker >= PROTO_WORKERS))
        why = "there is no such worker";
    else if (lat_unlikely(header->kind >= WIRE_KINDS))
        why = "there is no such kind";
    else
        why = wire[header->kind].valid(header, bytes);
    if (lat_unlikely(why != 0))
        refuse_message(header, bytes, why);
}

void proto_wire_notify_check(const struct wire_header *header, const struct wire_notify *notice, size_t bytes)
{
    if (lat_unlikely(!is_notice(notice)))
        refuse_message(header, bytes, NO_NOTICE);
}
