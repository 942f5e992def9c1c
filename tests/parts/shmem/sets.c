/* Sets of requests and of variables: what a test answers, what a wait returns and after which pause, with each member alone pending,
 * members that a status leaves out, and empty sets. One fence serves a whole set. */
#include "halves.h"

#include "paused.h"

static int dones, quiets, frees, merges, fences;

static bool done_stub(uccs_request_handle *handle)
{
    dones++;
    if (*handle == UCCS_REQUEST_DIRTY) {
        quiets++;
        *handle = UCCS_REQUEST_CLEAN;
    }
    return !uccs_request_object(*handle) || (*handle)->pending == 1;
}

static bool locally_stub(const uccs_request_handle *handle)
{
    return !uccs_request_object(*handle) || (*handle)->sources == 1;
}

static void free_stub(uccs_request_handle *handle)
{
    frees++;
    *handle = 0;
}

static void merge_stub(uccs_request_handle *into, size_t n, uccs_request_handle *handles)
{
    CHECK(into && handles && n == 2);
    merges++;
}

#define uccs_request_done(handle) done_stub(handle)
#define uccs_request_done_locally(handle) locally_stub(handle)
#define uccs_request_free(handle) free_stub(handle)
#define uccs_request_merge(into, n, handles) merge_stub(into, n, handles)
#define uccs_request_pending(handle) ((size_t)(handle)->pending)
#define uccs_quiet() ((void)quiets++)
#define uccs_fence_stores() ((void)fences++)
#define uccs_far_fence_all() note("fence all; ")
#include "shmem/p2p.c"
#undef ONE
#undef EACH
#define empty requests_empty
#define included requests_included
#include "shmem/request.c"
#undef empty
#undef included

enum { MANY = 5, ALL = (1 << MANY) - 1 };

static struct uccs_request objects[MANY];
static uccs_request_handle set[MANY];
static int status[MANY];
static size_t found[MANY];

void lat_put_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe)
{
    (void)ctx, (void)dest, (void)source, (void)pe;
    CHECK(call && bytes);
}

void lat_get_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe)
{
    lat_put_far(call, ctx, dest, source, bytes, pe);
}

struct uccs_far_place lat_far_place(const char *call, const char *argument, const void *addr, int pe)
{
    (void)call, (void)argument, (void)pe;
    return place_stub(addr);
}

/* Members of `pending` are pending, those of `out` are left out. */
static void make_set(unsigned pending, unsigned out)
{
    for (int i = 0; i < MANY; i++) {
        objects[i] = (struct uccs_request){.pending = 1 + (pending >> i & 1), .sources = 1 + (pending >> i & 1)};
        set[i] = &objects[i];
        status[i] = (int)(out >> i & 1);
        found[i] = 99;
    }
    quiets = frees = 0;
    paused_plan(0, 0);
}

static void finish_third(void)
{
    objects[2].pending = objects[2].sources = 1;
}

static void tests_of_requests(unsigned pending, unsigned out)
{
    size_t count = 0;
    const unsigned in = ~out & ALL, done = in & ~pending;
    make_set(pending, out);
    CHECK(lat_request_test_all(set, MANY, status) == !(pending & in));
    MISSED(pending & in ? 1 : 0);
    const size_t some = lat_request_test_some(set, MANY, found, status);
    for (size_t i = 0; i < MANY; i++)
        if (done >> i & 1)
            CHECK(found[count++] == i);
    CHECK(some == count);
    MISSED(done ? 0 : 1);
    for (int round = 0; round < 2 * MANY; round++) {
        const size_t any = lat_request_test_any(set, MANY, status);
        CHECK(done ? any < MANY && done >> any & 1 : any == SIZE_MAX);
        MISSED(done ? 0 : 1);
    }
    CHECK(quiets == 0 && frees == 0);
}

/* Each finished member of a set is found in its turn. */
static void turns_of_any(void)
{
    size_t before;
    make_set(1u << 3, 1u << 1);
    before = lat_request_test_any(set, MANY, status);
    for (int round = 0; round < 7; round++) {
        static const size_t next[MANY] = {2, 99, 4, 99, 0};
        const size_t now = lat_request_wait_any(set, MANY, status);
        CHECK(now == next[before]);
        before = now;
    }
    PAUSED(0);
    CHECK(lat_request_test_any(set, 0, 0) == SIZE_MAX && lat_request_wait_any(set, 0, 0) == SIZE_MAX);
    PAUSED(0 * (misses = 0));
    CHECK(lat_request_wait_some(set, 0, found, 0) == 0 && lat_request_test_all(set, 0, 0) == 1);
    make_set(ALL, ALL);
    CHECK(lat_request_wait_any(set, MANY, status) == SIZE_MAX && lat_request_wait_some(set, MANY, found, status) == 0);
    lat_request_wait_all(set, MANY, status);
    lat_request_wait_all_free(set, MANY, status);
    CHECK(frees == 0 && set[0] && set[MANY - 1]);
    PAUSED(0);
}

static void waits_for_requests(void)
{
    make_set(1u << 2, 1u << 4);
    paused_plan(3, finish_third);
    lat_request_wait_all(set, MANY, status);
    PAUSED(3);
    make_set(1u << 2, 1u << 4);
    paused_plan(3, finish_third);
    lat_request_wait_all_free(set, MANY, status);
    PAUSED(3);
    CHECK(frees == 4 && !set[0] && !set[1] && !set[2] && !set[3] && set[4]);
    make_set(ALL, 0);
    paused_plan(3, finish_third);
    CHECK(lat_request_wait_any(set, MANY, status) == 2);
    PAUSED(3);
    make_set(ALL, 0);
    paused_plan(3, finish_third);
    CHECK(lat_request_wait_some(set, MANY, found, status) == 1 && found[0] == 2 && found[1] == 99);
    PAUSED(3);
    make_set(1u << 2, 0);
    paused_plan(2, finish_third);
    lat_request_wait(&set[2]);
    PAUSED(2);
    CHECK(frees == 0);
    make_set(1u << 2, 0);
    paused_plan(2, finish_third);
    lat_request_wait_free(&set[2]);
    PAUSED(2);
    CHECK(frees == 1 && !set[2]);
    make_set(1u << 2, 0);
    paused_plan(2, finish_third);
    lat_request_wait_local(&set[2]);
    PAUSED(2);
}

static void single_requests(void)
{
    make_set(1u << 2, 0);
    CHECK(lat_request_test(&set[2]) == 0 && lat_request_test_local(&set[2]) == 0);
    MISSED(2);
    CHECK(lat_request_pending(set[2]) == 2 && lat_request_pending(set[1]) == 1);
    CHECK(lat_request_test(&set[1]) == 1 && lat_request_test_local(&set[1]) == 1);
    uccs_request_handle clean = UCCS_REQUEST_CLEAN, dirty = UCCS_REQUEST_DIRTY;
    CHECK(lat_request_test(&clean) == 1 && lat_request_test_local(&dirty) == 1 && quiets == 0);
    CHECK(lat_request_test(&dirty) == 1 && quiets == 1 && dirty == UCCS_REQUEST_CLEAN);
    MISSED(0);
    lat_request_merge(&set[0], 2, &set[1]);
    lat_request_free(&set[3]);
    CHECK(merges == 1 && frees == 1 && !set[3]);
    for (int far = 0; far < 2; far++) {
        uccs_far_on = far;
        lat_request_fence(&set[0]);
        NOTED(far ? "fence all; " : "");
        CHECK(fences == far + 1);
    }
    uccs_far_on = false;
    CHECK(lat_request_create(SHMEMX_REQUEST_PRIVATE, &clean) == 0 && clean == UCCS_REQUEST_CLEAN);
    CHECK(lat_request_create(SHMEMX_REQUEST_PRIVATE | SHMEMX_REQUEST_SHARED, &clean) == -1 && !clean);
    CHECK(lat_request_create(SHMEMX_REQUEST_SHARED, &clean) == 0 && uccs_request_object(clean));
    (free)(clean);
}

/* The first member that needs a fence makes it for all, also behind one that is pending. */
static void one_fence(void)
{
    for (int call = 0; call < 2; call++) {
        make_set(1u, 1u << 2);
        for (int i = 1; i < MANY; i++)
            set[i] = UCCS_REQUEST_DIRTY;
        CHECK(call ? lat_request_test_all(set, MANY, status) == 0
                   : lat_request_test_some(set, MANY, found, status) == 3);
        CHECK(quiets == 1 && set[0] == &objects[0] && set[2] == UCCS_REQUEST_DIRTY);
        CHECK(set[1] == UCCS_REQUEST_CLEAN && set[3] == UCCS_REQUEST_CLEAN && set[4] == UCCS_REQUEST_CLEAN);
    }
}

/* --- Variables */

static int16_t words[MANY];

static void make_words(unsigned ready, unsigned out)
{
    make_set(0, out);
    for (int i = 0; i < MANY; i++)
        words[i] = (int16_t)(ready >> i & 1);
}

#define WORDS "call", KIND_I16, words, MANY

static void tests_of_words(unsigned ready, unsigned out)
{
    static const int16_t ones[MANY] = {1, 1, 1, 1, 1};
    const unsigned in = ~out & ALL, done = in & ready;
    size_t count = 0;
    make_words(ready, out);
    CHECK(lat_test_all(WORDS, status, SHMEM_CMP_EQ, 1) == (done == in));
    CHECK(lat_test_all_vector(WORDS, status, SHMEM_CMP_EQ, ones) == (done == in));
    MISSED(done == in ? 0 : 2);
    const size_t some = lat_test_some(WORDS, found, status, SHMEM_CMP_EQ, 1);
    for (size_t i = 0; i < MANY; i++)
        if (done >> i & 1)
            CHECK(found[count++] == i);
    CHECK(some == count && lat_test_some_vector(WORDS, found, status, SHMEM_CMP_EQ, ones) == count);
    MISSED(done ? 0 : 2);
    for (int round = 0; round < 4 * MANY; round++) {
        const size_t any = lat_test_any(WORDS, status, SHMEM_CMP_EQ, 1);
        CHECK(done ? any < MANY && done >> any & 1 : any == SIZE_MAX);
        MISSED(done ? 0 : 1);
        if (done)
            CHECK(done >> lat_wait_until_any_vector(WORDS, status, SHMEM_CMP_EQ, ones) & 1);
        PAUSED(0);
    }
}

static void third_word(void)
{
    words[0] = 0; /* it was true: a wait for all does not look again */
    words[2] = 1;
}

static void waits_for_words(void)
{
    static const int16_t ones[MANY] = {1, 1, 1, 1, 1};
    for (int vector = 0; vector < 2; vector++) {
        make_words(ALL & ~4u, 0);
        paused_plan(3, third_word);
        if (vector)
            lat_wait_until_all_vector(WORDS, 0, SHMEM_CMP_EQ, ones);
        else
            lat_wait_until_all(WORDS, status, SHMEM_CMP_EQ, 1);
        PAUSED(3);
        make_words(0, 0);
        paused_plan(3, third_word);
        CHECK((vector ? lat_wait_until_any_vector(WORDS, 0, SHMEM_CMP_EQ, ones)
                      : lat_wait_until_any(WORDS, status, SHMEM_CMP_EQ, 1)) == 2);
        PAUSED(3);
        make_words(0, 0);
        paused_plan(3, third_word);
        CHECK((vector ? lat_wait_until_some_vector(WORDS, found, 0, SHMEM_CMP_EQ, ones)
                      : lat_wait_until_some(WORDS, found, status, SHMEM_CMP_EQ, 1)) == 1);
        CHECK(found[0] == 2 && found[1] == 99);
        PAUSED(3);
    }
    make_words(0, ALL);
    lat_wait_until_all(WORDS, status, SHMEM_CMP_EQ, 1);
    CHECK(lat_wait_until_any(WORDS, status, SHMEM_CMP_EQ, 1) == SIZE_MAX);
    CHECK(lat_wait_until_some(WORDS, found, status, SHMEM_CMP_EQ, 1) == 0);
    CHECK(lat_wait_until_any("call", KIND_I16, words, 0, 0, SHMEM_CMP_EQ, 1) == SIZE_MAX);
    CHECK(lat_test_any("call", KIND_I16, words, 0, 0, SHMEM_CMP_EQ, 1) == SIZE_MAX);
    PAUSED(0 * (misses = 0));
    make_words(0, 0);
    paused_plan(2, third_word);
    lat_wait_until("call", KIND_I16, &words[2], SHMEM_CMP_NE, 0);
    PAUSED(2);
    lat_wait_until("call", KIND_I16, &words[2], SHMEM_CMP_EQ, 1);
    PAUSED(2);
    CHECK(lat_test("call", KIND_I16, &words[2], SHMEM_CMP_EQ, 1) == 1 && misses == 0);
    CHECK(lat_test("call", KIND_I16, &words[2], SHMEM_CMP_EQ, 2) == 0 && misses == 1);
}

static const enum kind kinds[] = {KIND_I16, KIND_U16, KIND_I32, KIND_U32, KIND_I64, KIND_U64};
static const size_t widths[] = {2, 2, 4, 4, 8, 8};

/* Stores the bits where a second element of this kind lies, and returns what a program reads there, as an ordered number. */
static __int128 place_value(int at, uint64_t bits, char *where)
{
    const size_t bytes = widths[at], shift = 64 - 8 * bytes;
    memset(where, 0x5a, 24);
    memcpy(where + bytes, &bits, bytes);
    const uint64_t up = bits << shift;
    return at % 2 ? (__int128)(up >> shift) : (__int128)((int64_t)up >> shift);
}

/* Every comparison of every kind at the ends of its range: -1, 0, 1, the least and the greatest. */
static void comparisons(void)
{
    static const uint64_t bits[] = {0,      1,          2,          ~UINT64_C(0),      0x7fff,
                                    0x8000, 0x7fffffff, 0x80000000, UINT64_C(1) << 63, ~(UINT64_C(1) << 63)};
    enum { VALUES = sizeof bits / sizeof *bits };
    _Alignas(8) char left[24], right[24];
    for (int kind = 0; kind < 6; kind++)
        for (int i = 0; i < VALUES * VALUES; i++) {
            const __int128 a = place_value(kind, bits[i / VALUES], left),
                           b = place_value(kind, bits[i % VALUES], right);
            const int wanted[] = {[SHMEM_CMP_EQ] = a == b, [SHMEM_CMP_NE] = a != b, [SHMEM_CMP_GT] = a > b,
                                  [SHMEM_CMP_GE] = a >= b, [SHMEM_CMP_LT] = a < b,  [SHMEM_CMP_LE] = a <= b};
            for (int cmp = SHMEM_CMP_EQ; cmp <= SHMEM_CMP_GE; cmp++) {
                status[0] = 1;
                status[1] = 0;
                CHECK(lat_test_all_vector("call", kinds[kind], left, 2, status, cmp, right) == wanted[cmp]);
                CHECK(lat_test("call", kinds[kind], left + widths[kind], cmp, (uint64_t)b) == wanted[cmp]);
            }
        }
    CHECK(lat_compare(KIND_I32, 77, 1, 2) && width(KIND_I64) == 8);
}

static void names_of_comparisons(void)
{
    static const char *const names[] = {[SHMEM_CMP_EQ] = "==", [SHMEM_CMP_NE] = "!=", [SHMEM_CMP_GT] = "> ",
                                        [SHMEM_CMP_GE] = ">=", [SHMEM_CMP_LT] = "< ", [SHMEM_CMP_LE] = "<="};
    for (int cmp = SHMEM_CMP_EQ; cmp <= SHMEM_CMP_GE; cmp++)
        CHECK(strcmp(lat_compare_text(cmp), names[cmp]) == 0);
}

#include "sets_states.h"

int main(void)
{
    halves_start();
    for (unsigned pending = 0; pending <= ALL; pending++)
        for (unsigned out = 0; out <= ALL; out++) {
            tests_of_requests(pending, out);
            tests_of_words(pending, out);
        }
    turns_of_any();
    waits_for_requests();
    single_requests();
    one_fence();
    waits_for_words();
    comparisons();
    names_of_comparisons();
    not_running();
    looks();
    return 0;
}
