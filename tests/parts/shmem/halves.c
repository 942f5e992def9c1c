/* The slow halves of one-sided operations: what each asks of the far layer for a PE of another node, what it does to memory that
 * the network maps and to memory of this node, what a request, a counter and a signal are told, and which mistakes it names. */
#include "halves.h"

#include "shmem/amo.c"
#include "shmem/place.c"
#include "shmem/request.c"
#include "shmem/rma.c"
#include "shmem/signal.c"
#define put_far strided_put_far
#define get_far strided_get_far
#include "shmem/strided.c"

struct shmem_ctx_impl lat_ctx_default;
static struct shmem_ctx_impl ctx;

_Noreturn void lat_ctx_fail(const char *call, const struct shmem_ctx_impl *of, int pe)
{
    (void)of;
    lat_fail(call, "wrong context for %d", pe);
}

void lat_quiet(void)
{
    note("quiet; ");
}

static const char *private_line(const char *call, const char *argument)
{
    static char text[200];
    snprintf(text, sizeof text, "%s: %s %p is not a symmetric address", call, argument, (void *)elsewhere);
    return text;
}

#define OUT_OF_RANGE "call: pe 4 is out of range, the job has PEs 0 to 3"

static uint64_t word_at(const char *memory, int at)
{
    uint64_t word;
    memcpy(&word, memory + at, sizeof word);
    return word;
}

static void set_words(uint64_t first, uint64_t second)
{
    for (int pe = 0; pe < NEAR; pe++)
        memcpy(heap[pe], (uint64_t[]){first, second}, 16);
    memcpy(reached, (uint64_t[]){first, second}, 16);
}

/* Memory that the network maps: the atomic is done at once, on as many bytes as it has. */
static void atomics_reached(void)
{
    const uint64_t all = ~UINT64_C(0);
    set_words(all, all);
    CHECK(lat_amo_far("call", &ctx, UCCS_ATOMIC_SET, heap[0], 4, 5, 0, REACHED) == 0);
    CHECK(word_at(reached, 0) == (UINT64_C(0xffffffff00000000) | 5) && word_at(reached, 8) == all);
    CHECK(lat_amo_far("call", &ctx, UCCS_ATOMIC_SET, heap[0], 8, 6, 0, REACHED) == 0 && word_at(reached, 0) == 6);
    CHECK(lat_amo_processor("call", UCCS_ATOMIC_ADD, heap[0], 8, 3, 0, REACHED) == 6 && word_at(reached, 0) == 9);
    CHECK(lat_amo_far("call", &ctx, UCCS_ATOMIC_CSWAP, heap[0], 8, 1, 8, REACHED) == 9 && word_at(reached, 0) == 9);
    CHECK(lat_amo_far("call", &ctx, UCCS_ATOMIC_CSWAP, heap[0], 8, 1, 9, REACHED) == 9 && word_at(reached, 0) == 1);
    uint64_t fetched = all;
    lat_amo_fetch_far("call", &ctx, UCCS_ATOMIC_SWAP, heap[0], 4, 2, 0, REACHED, &fetched, 0);
    CHECK(fetched == (UINT64_C(0xffffffff00000000) | 1) && word_at(reached, 0) == 2);
    CHECK(lat_amo_post_far("call", &ctx, UCCS_ATOMIC_XOR, heap[0], 8, 3, 0, REACHED) == 0 && word_at(reached, 0) == 1);
    CHECK(word_at(heap[0], 0) == all && word_at(heap[1], 0) == all);
    NOTED("");
}

static void atomics_far(void)
{
    struct uccs_request *req = 0;
    uint64_t fetched = 0;
    CHECK(lat_amo_far("call", &ctx, UCCS_ATOMIC_CSWAP, heap[0] + 8, 4, 5, 6, FAR) == OLD);
    NOTED("amo on lanes to 2 at 1+8 op 3 size 4 5 if 6; ");
    CHECK(lat_amo_processor("call", UCCS_ATOMIC_ADD, heap[0] + 8, 8, 5, 6, FAR) == OLD);
    NOTED("amo to 2 at 1+8 op 4 size 8 5 if 6; ");
    lat_amo_fetch_far("call", &ctx, UCCS_ATOMIC_ADD, heap[0] + 8, 8, 5, 6, FAR, &fetched, &req);
    CHECK(fetched == OLD);
    NOTED("nb req amo on lanes to 2 at 1+8 op 4 size 8 5 if 6; ");
    CHECK(lat_amo_post_nbe("call", LAT_CTX_DEFAULT, UCCS_ATOMIC_SET, heap[0] + 8, 8, 5, 6, FAR, &req) == 0);
    NOTED("post req amo to 2 at 1+8 op 1 size 8 5 if 6; ");
    CHECK(lat_amo_post_far("call", &ctx, UCCS_ATOMIC_SET, heap[0] + 8, 8, 5, 6, FAR) == 0);
    NOTED("post amo on lanes to 2 at 1+8 op 1 size 8 5 if 6; ");
    REFUSED(lat_amo_far("call", &ctx, UCCS_ATOMIC_FETCH, elsewhere, 8, 0, 0, FAR), private_line("call", "source"));
    REFUSED(lat_amo_far("call", &ctx, UCCS_ATOMIC_ADD, elsewhere, 8, 0, 0, FAR), private_line("call", "dest"));
    REFUSED(lat_amo_fetch_far("call", &ctx, UCCS_ATOMIC_FETCH, elsewhere, 8, 0, 0, FAR, &fetched, 0),
            private_line("call", "source"));
    REFUSED(lat_amo_post_far("call", &ctx, UCCS_ATOMIC_ADD, elsewhere, 8, 0, 0, FAR), private_line("call", "dest"));
    REFUSED(lat_amo_processor("call", UCCS_ATOMIC_FETCH, elsewhere, 8, 0, 0, FAR), private_line("call", "source"));
}

static void atomics_near(void)
{
    uint64_t fetched = 0;
    set_words(20, 30);
    CHECK(lat_amo_far("call", &ctx, UCCS_ATOMIC_ADD, heap[0] + 8, 8, 5, 0, 1) == 30 && word_at(heap[1], 8) == 35);
    CHECK(lat_amo_processor("call", UCCS_ATOMIC_ADD, heap[0], 8, 5, 0, 0) == 20 && word_at(heap[0], 0) == 25);
    lat_amo_fetch_far("call", &ctx, UCCS_ATOMIC_OR, heap[0], 8, 3, 0, 1, &fetched, 0);
    CHECK(fetched == 20 && word_at(heap[1], 0) == 23);
    CHECK(lat_amo_post_far("call", &ctx, UCCS_ATOMIC_SET, heap[0], 8, 3, 0, 1) == 0 && word_at(heap[1], 0) == 3);
    REFUSED(lat_amo_far("call", &ctx, UCCS_ATOMIC_ADD, heap[0], 8, 0, 0, NPES), OUT_OF_RANGE);
    REFUSED(lat_amo_processor("call", UCCS_ATOMIC_ADD, heap[0], 8, 0, 0, NPES), OUT_OF_RANGE);
    REFUSED(lat_amo_far("call", &ctx, UCCS_ATOMIC_FETCH, elsewhere, 8, 0, 0, 1), private_line("call", "source"));
    REFUSED(lat_amo_processor("call", UCCS_ATOMIC_SET, elsewhere, 8, 0, 0, 1), private_line("call", "dest"));
    NOTED("");
}

/* The adapter does the atomics of its memory, at PEs of this node too; of a PE that there is not it hears nothing. */
static void atomics_of_adapters(void)
{
    struct uccs_request *req = 0;
    uint64_t fetched = 0;
    CHECK(lat_amo_far("call", &ctx, UCCS_ATOMIC_ADD, adapters, 8, 5, 0, 0) == OLD);
    NOTED("adapter amo on lanes to 0 at 1+8192 op 4 size 8 5 if 0; ");
    CHECK(lat_amo_far("call", &ctx, UCCS_ATOMIC_ADD, adapters, 8, 5, 0, NPES - 1) == OLD);
    NOTED("adapter amo on lanes to 3 at 1+8192 op 4 size 8 5 if 0; ");
    REFUSED(lat_amo_far("call", &ctx, UCCS_ATOMIC_ADD, adapters, 8, 5, 0, NPES), OUT_OF_RANGE);
    REFUSED(lat_amo_far("call", &ctx, UCCS_ATOMIC_ADD, adapters, 8, 5, 0, -1),
            "call: pe -1 is out of range, the job has PEs 0 to 3");
    lat_amo_fetch_far("call", &ctx, UCCS_ATOMIC_ADD, adapters, 8, 5, 0, FAR, &fetched, &req);
    CHECK(fetched == OLD);
    NOTED("nb req adapter amo on lanes to 2 at 1+8192 op 4 size 8 5 if 0; ");
    lat_amo_post_nbe("call", &ctx, UCCS_ATOMIC_ADD, adapters, 8, 5, 0, FAR, &req);
    NOTED("post req adapter amo on lanes to 2 at 1+8192 op 4 size 8 5 if 0; ");
    lat_amo_post_far("call", &ctx, UCCS_ATOMIC_ADD, adapters, 8, 5, 0, 1);
    NOTED("adapter amo on lanes to 1 at 1+8192 op 4 size 8 5 if 0; ");
}

static void bits_of_reals(void)
{
    const float halves[] = {0.5f, -0.0f, 3e30f};
    for (int i = 0; i < 3; i++) {
        CHECK(lat_float_of_bits(lat_bits_of_float(halves[i]) | UINT64_C(7) << 32) == halves[i]);
        CHECK(lat_double_of_bits(lat_bits_of_double(halves[i])) == halves[i]);
    }
    CHECK(lat_bits_of_float(-0.0f) == 0x80000000u && lat_bits_of_double(-0.0) == UINT64_C(1) << 63);
}

/* Puts and gets of 0, 1, 2, 3, 4, 8 and 4,100 bytes: no byte more, no byte less. */
static void moved_reached(void)
{
    static const size_t sizes[] = {1, 2, 3, 4, 5, 8, 9, 4096, 4100};
    char source[BYTES], dest[BYTES];
    memset(source, 's', sizeof source);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t bytes = sizes[i];
        for (int nbi = 0; nbi < 2; nbi++) {
            memset(reached, 'r', BYTES);
            (nbi ? lat_put_nbi_far : lat_put_far)("call", &ctx, heap[0] + 16, source, bytes, REACHED);
            CHECK(reached[15] == 'r' && reached[16] == 's' && reached[15 + bytes] == 's' && reached[16 + bytes] == 'r');
            memset(reached, 'r', BYTES);
            memset(dest, 'd', sizeof dest);
            (nbi ? lat_get_nbi_far : lat_get_far)("call", &ctx, dest, heap[0] + 16, bytes, REACHED);
            CHECK(dest[0] == 'r' && dest[bytes - 1] == 'r' && dest[bytes] == 'd');
        }
    }
    NOTED("");
}

static void moved_far(void)
{
    char local[16] = {9};
    lat_put_far("call", &ctx, heap[0] + 16, local, 3, FAR);
    NOTED("put on lanes to 2 at 1+16 3 of 9; ");
    lat_put_nbi_far("call", LAT_CTX_DEFAULT, heap[0] + 16, local, 3, FAR);
    NOTED("nb put to 2 at 1+16 3 of 9; ");
    lat_get_far("call", &ctx, local, heap[0] + 16, 3, FAR);
    NOTED("get on lanes to 2 at 1+16 3 counter 0; ");
    CHECK(local[0] == 'g' && local[2] == 'g' && local[3] == 0);
    lat_get_nbi_far("call", &ctx, local, heap[0] + 16, 4, FAR);
    NOTED("nb get on lanes to 2 at 1+16 4 counter 0; ");
    lat_put_far("call", &ctx, 0, 0, 0, FAR);
    lat_put_nbi_far("call", &ctx, 0, 0, 0, FAR);
    lat_get_far("call", &ctx, 0, 0, 0, 1);
    lat_get_nbi_far("call", &ctx, 0, 0, 0, NPES - 1);
    NOTED("");
    REFUSED(lat_put_far("call", &ctx, 0, 0, 0, NPES), OUT_OF_RANGE);
    REFUSED(lat_get_nbi_far("call", &ctx, 0, 0, 0, NPES), OUT_OF_RANGE);
    REFUSED(lat_put_nbi_far("call", &ctx, elsewhere, local, 1, FAR), private_line("call", "dest"));
    REFUSED(lat_get_far("call", &ctx, local, elsewhere, 1, FAR), private_line("call", "source"));
    REFUSED(lat_put_far("call", &ctx, elsewhere, local, 1, 1), private_line("call", "dest"));
    REFUSED(lat_get_far("call", &ctx, local, elsewhere, 1, 1), private_line("call", "source"));
}

/* The near paths come here when their short checks fail; the copy is the same. */
static void moved_near(void)
{
    char local[4] = {1, 2, 3, 4};
    memset(heap[1], 0, 64);
    lat_put_far("call", &ctx, heap[0] + 8, local, 3, 1);
    CHECK(heap[1][7] == 0 && memcmp(heap[1] + 8, local, 3) == 0 && heap[1][11] == 0);
    memset(heap[1], 0, 64);
    lat_put_nbi_far("call", &ctx, heap[0] + 8, local, 2, 1);
    CHECK(heap[1][8] == 1 && heap[1][9] == 2 && heap[1][10] == 0);
    heap[1][9] = 77;
    lat_get_far("call", &ctx, local, heap[0] + 8, 2, 1);
    CHECK(local[0] == 1 && local[1] == 77 && local[2] == 3);
    NOTED("");
}

static void requests(void)
{
    char local[16] = {9};
    uccs_request_handle req = 0;
    lat_put_nbe_far("call", &ctx, heap[0], local, 2, FAR, &req);
    CHECK(!req);
    NOTED("nb put on lanes to 2 at 1+0 2 of 9 req; ");
    lat_get_nbe_far("call", &ctx, local, heap[0], 2, FAR, &req);
    CHECK(!req);
    NOTED("nb req get on lanes to 2 at 1+0 2 counter 0; ");
    for (int pe = 1; pe <= REACHED; pe++) {
        const size_t bytes = pe == FAR ? 0 : 2;
        req = 0;
        lat_put_nbe_far("call", &ctx, heap[0], local, bytes, pe, &req);
        CHECK(req == UCCS_REQUEST_DIRTY);
        CHECK(pe == FAR || memory_of(pe)[0] == local[0]);
        memory_of(pe)[0] = (char)('s' + pe);
        req = 0;
        lat_get_nbe_far("call", &ctx, local, heap[0], bytes, pe, &req);
        CHECK(req == UCCS_REQUEST_CLEAN && (pe == FAR || local[0] == 's' + pe));
    }
    NOTED("");
}

static void strided_near(int pe, const char *there)
{
    short local[16], got[16] = {0};
    for (int i = 0; i < 16; i++)
        local[i] = (short)(100 + i);
    memset((char *)there, 0, 128);
    const short *words = (const short *)(const void *)there;
    lat_iput("call", &ctx, heap[0], local, 3, 2, 4, sizeof(short), pe);
    CHECK(words[0] == 100 && words[3] == 102 && words[6] == 104 && words[9] == 106 && !words[1] && !words[12]);
    lat_iget("call", &ctx, got, heap[0], 2, 3, 4, sizeof(short), pe);
    CHECK(got[0] == 100 && got[2] == 102 && got[4] == 104 && got[6] == 106 && !got[1] && !got[8]);
    memset((char *)there, 0, 128);
    lat_iput("call", &ctx, heap[0], local, 1, 1, 3, sizeof(short), pe);
    CHECK(words[0] == 100 && words[1] == 101 && words[2] == 102 && !words[3]);
    memset((char *)there, 0, 128);
    lat_iput("call", &ctx, heap[0], local, 1, 2, 3, sizeof(short), pe);
    CHECK(words[0] == 100 && words[1] == 102 && words[2] == 104 && !words[3]);
    memset((char *)there, 0, 128);
    lat_ibput("call", &ctx, heap[0], local, 3, 2, 2, 2, sizeof(short), pe);
    CHECK(words[0] == 100 && words[1] == 101 && !words[2] && words[3] == 102 && words[4] == 103 && !words[5]);
    memset((char *)there, 0, 128);
    lat_ibput("call", &ctx, heap[0], local, 4, 4, 2, 2, sizeof(short), pe);
    CHECK(words[1] == 101 && !words[2] && !words[3] && words[4] == 104 && words[5] == 105 && !words[6]);
    memset(got, 0, sizeof got);
    lat_ibget("call", &ctx, got, heap[0], 3, 4, 2, 2, sizeof(short), pe);
    CHECK(got[0] == 100 && got[1] == 101 && !got[2] && got[3] == 104 && got[4] == 105 && !got[5]);
}

static void strided_far(void)
{
    uccs_request_handle req = 0;
    int local[16] = {7};
    lat_iput("call", &ctx, heap[0] + 4, local, 3, 2, 5, sizeof(int), FAR);
    NOTED("put on lanes to 2 at 1+4 5x4 there 12 here 8 of 7; ");
    CHECK(!lat_iput_carry("call", &ctx, heap[0], local, 3, 2, 5, sizeof(int), FAR, &req));
    NOTED("put on lanes to 2 at 1+0 5x4 there 12 here 8 later of 7 req; ");
    lat_iput("call", &ctx, heap[0], local, 1, 1, 5, sizeof(int), FAR);
    NOTED("put on lanes to 2 at 1+0 20 of 7; ");
    lat_iput("call", &ctx, heap[0], local, 1, 2, 5, sizeof(int), FAR);
    NOTED("put on lanes to 2 at 1+0 5x4 there 4 here 8 of 7; ");
    CHECK(!lat_iput_carry("call", &ctx, heap[0], local, 1, 1, 5, sizeof(int), FAR, &req));
    NOTED("nb put on lanes to 2 at 1+0 20 of 7 req; ");
    lat_ibput("call", &ctx, heap[0], local, 3, 3, 2, 5, sizeof(int), FAR);
    NOTED("put on lanes to 2 at 1+0 5x8 there 12 here 12 of 7; ");
    lat_iget("call", &ctx, local, heap[0], 2, 3, 5, sizeof(int), FAR);
    NOTED("get on lanes to 2 at 1+0 5x4 there 12 here 8; ");
    CHECK(!lat_iget_carry("call", &ctx, local, heap[0], 2, 3, 3, sizeof(int), FAR, &req));
    NOTED("nb req get on lanes to 2 at 1+0 3x4 there 12 here 8; ");
    lat_iget("call", &ctx, local, heap[0], 1, 1, 3, sizeof(int), FAR);
    NOTED("get on lanes to 2 at 1+0 12 counter 0; ");
    CHECK(!lat_iget_carry("call", &ctx, local, heap[0], 1, 1, 3, sizeof(int), FAR, &req));
    NOTED("nb req get on lanes to 2 at 1+0 12 counter 0; ");
}

static void strided_mistakes(void)
{
    uccs_request_handle req = 0;
    int local[16] = {7};
    for (int pe = 0; pe < NPES; pe++) {
        CHECK(lat_iput_carry("call", &ctx, 0, 0, 1, 1, 0, sizeof(int), pe, &req));
        CHECK(lat_iget_carry("call", &ctx, 0, 0, 1, 1, 0, sizeof(int), pe, &req));
        lat_ibput("call", &ctx, 0, 0, 1, 1, 0, 3, sizeof(int), pe);
        lat_ibget("call", &ctx, 0, 0, 1, 1, 0, 3, sizeof(int), pe);
    }
    CHECK(lat_iput_carry("call", &ctx, heap[0], local, 1, 1, 1, sizeof(int), 1, &req));
    CHECK(lat_iget_carry("call", &ctx, local, heap[0], 1, 1, 1, sizeof(int), REACHED, &req));
    NOTED("");
    REFUSED(lat_iput("call", &ctx, 0, 0, 1, 1, 0, sizeof(int), NPES), OUT_OF_RANGE);
    REFUSED(lat_iget("call", &ctx, 0, 0, 1, 1, 0, sizeof(int), NPES), OUT_OF_RANGE);
    REFUSED(lat_iput("call", &ctx, elsewhere, local, 1, 1, 1, sizeof(int), 1), private_line("call", "dest"));
    REFUSED(lat_iput("call", &ctx, elsewhere, local, 1, 1, 1, sizeof(int), FAR), private_line("call", "dest"));
    REFUSED(lat_iget("call", &ctx, local, elsewhere, 1, 1, 1, sizeof(int), 1), private_line("call", "source"));
    REFUSED(lat_iget("call", &ctx, local, elsewhere, 1, 1, 1, sizeof(int), FAR), private_line("call", "source"));
}

/* After the end a call is refused even where this PE's memory is still mapped. */
static void after_the_end(void)
{
    static const char line[] = "call: called after the last shmem_finalize";
    uccs_request_handle req = 0;
    uint64_t word = 0;
    lat_state = LAT_AFTER;
    for (volatile int pe = 1; pe <= FAR; pe++) {
        REFUSED(lat_amo_processor("call", UCCS_ATOMIC_ADD, heap[0], 8, 1, 0, pe), line);
        REFUSED(lat_amo_far("call", &ctx, UCCS_ATOMIC_ADD, heap[0], 8, 1, 0, pe), line);
        REFUSED(lat_amo_fetch_far("call", &ctx, UCCS_ATOMIC_ADD, heap[0], 8, 1, 0, pe, &word, &req), line);
        REFUSED(lat_amo_post_far("call", &ctx, UCCS_ATOMIC_ADD, heap[0], 8, 1, 0, pe), line);
        REFUSED(lat_iput("call", &ctx, elsewhere, &word, 1, 1, 1, 8, pe), line);
        REFUSED(lat_iget("call", &ctx, &word, elsewhere, 1, 1, 1, 8, pe), line);
        REFUSED(lat_iput("call", &ctx, elsewhere, &word, 1, 1, 0, 8, pe), line);
        REFUSED(lat_put_far("call", &ctx, heap[0], &word, 8, pe), line);
        REFUSED(lat_get_far("call", &ctx, &word, heap[0], 8, pe), line);
    }
    REFUSED(lat_iput("call", &ctx, heap[0], &word, 1, 1, 1, 8, FAR), line);
    REFUSED(lat_iget("call", &ctx, &word, heap[0], 1, 1, 1, 8, FAR), line);
    NOTED("");
    lat_state = LAT_RUNNING;
}

int main(void)
{
    halves_start();
    after_the_end();
    atomics_reached();
    atomics_far();
    atomics_near();
    atomics_of_adapters();
    bits_of_reals();
    moved_reached();
    moved_far();
    moved_near();
    requests();
    strided_near(1, heap[1]);
    strided_near(REACHED, reached);
    strided_far();
    strided_mistakes();
    return 0;
}
