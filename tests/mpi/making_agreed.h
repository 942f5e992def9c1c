/* The parts of making.c about what ranks tell each other, and what happens when one of them cannot. */
#ifndef MPI_TEST_MAKING_AGREED_H
#define MPI_TEST_MAKING_AGREED_H
#include "making_stub.h"

static struct lmpi_offer offer_of(int flavor)
{
    struct lmpi_offer offer = {.unit = 4, .bytes = 64, .flavor = flavor};
    lmpi_offer_new(&offer, 64);
    CHECK(offer.made && offer.base && offer.memory && !offer.why_not);
    return offer;
}

/* ---- what each rank tells ---- */

static struct record told;

static void keep_mine(void *all, int bytes, void *mine)
{
    memcpy(&told, mine, sizeof told);
    usual(all, bytes, mine);
}

static void own_record(void)
{
    reset();
    others = keep_mine;
    struct lmpi_offer offer = offer_of(MPI_WIN_FLAVOR_ALLOCATE);
    offer.offset = 24;
    struct lmpi_window *window = lmpi_window_make(&offer, COMM(3), MPI_INFO_NULL);
    CHECK(window && window->info == MPI_INFO_NULL && !window->promised && window->kind == 0);
    CHECK(told.good == 1 && told.unit == 4 && told.bytes == 64 && told.offset == 24 && told.ids == 1024);
    CHECK(told.base == (uintptr_t)offer.base && told.control_bytes == 16 && told.memory_bytes == 16);
    CHECK(memcmp(told.control, &window->peer[ME].memory, sizeof(void *)) == 0);
    CHECK(memcmp(told.memory, &offer.memory, sizeof(void *)) == 0);
    CHECK(told.key.word[0] == 0 && told.key.word[1] == 0); /* rank 0 alone makes one */
    RETURNS(lmpi_window_remove(window));
    RETURNS(lmpi_window_free(window));
    struct lmpi_offer nothing = {.unit = 4, .flavor = MPI_WIN_FLAVOR_CREATE};
    window = lmpi_window_make(&nothing, COMM(3), MPI_INFO_NULL);
    CHECK(window && told.good == 1 && told.memory_bytes == 0 && told.bytes == 0);
    CHECK(!window->target[ME].memory && !window->target[ME].near && !window->target[ME].direct);
    RETURNS(lmpi_window_remove(window));
    RETURNS(lmpi_window_free(window));
    struct lmpi_window first = {.ranks = RANKS, .rank = 0};
    uccs_memory_t control = 0;
    struct record mine;
    RETURNS(describe(&nothing, &first, 3, &control, &mine));
    CHECK(control && mine.good == 1 && mine.ids == 3 && (mine.key.word[0] || mine.key.word[1]));
    CHECK_EQ(control->length, lmpi_notify_word(RANKS, 3));
    uccs_memory_release(control);
    memset(&mine, 0xee, sizeof mine); /* a rank that cannot says so, and nothing else */
    control = (uccs_memory_t)&first;
    nothing.why_not = "a reason";
    RETURNS(describe(&nothing, &first, 3, &control, &mine));
    CHECK(!control && !mine.good && !mine.ids && !mine.bytes && !mine.control_bytes &&
          (mine.key.word[0] || mine.key.word[1]));
    nothing_left();
}

/* ---- what fails ---- */

/* The window does not come into being, says why, and what the caller has is the caller's again. */
static void fails_to_make(int flavor, bool of_first, const char *why, bool has_handle)
{
    MPI_Info info;
    OK(PMPI_Info_create(&info));
    const int fails_at = makes_left;
    makes_left = -1;
    struct lmpi_offer offer = offer_of(flavor);
    offer.of_first = of_first;
    offer.hold = lmpi_memory_hold(near_memory, 8);
    makes_left = fails_at;
    happened = 0;
    verbose = 1;
    CHECK(lmpi_window_make(&offer, COMM(3), info) == 0);
    CHECK(offer.why_not && strcmp(offer.why_not, why) == 0);
    CHECK(strstr(said, why) != 0);
    int freed = 0;
    for (int i = 0; i < happened; i++)
        freed += events[i].what == FREED_WIN && events[i].rank == 100 + shadows;
    CHECK_EQ(freed, has_handle);
    CHECK(objects == 1 && holds == 1 && infos == 1 && groups == 0 && offer.memory);
    RETURNS(lmpi_offer_drop(&offer));
    OK(PMPI_Info_free(&info));
    nothing_left();
    reset();
}

static int bad_rank;

static void one_is_bad(void *all, int bytes, void *mine)
{
    usual(all, bytes, mine);
    ((struct record *)all)[bad_rank].good = 0;
}

static void failures(void)
{
    const int flavor = MPI_WIN_FLAVOR_ALLOCATE;
    const char *no_words = "no memory is left for the words by which ranks meet",
               *unreached = "the words of a rank cannot be reached";
    reset();
    makes_left = 0;
    fails_to_make(flavor, false, no_words, false);
    exports_left = 0;
    fails_to_make(flavor, false, no_words, false);
    exports_left = 1;
    fails_to_make(flavor, false, "its memory cannot be named to others", false);
    for (bad_rank = 0; bad_rank < RANKS; bad_rank++) {
        others = one_is_bad;
        fails_to_make(flavor, false, "another rank cannot", false);
    }
    fake_gather_status = MPI_ERR_OTHER;
    fails_to_make(flavor, false, "another rank cannot", false);
    for (int i = 0; i < RANKS; i++) {
        endpoint_missing = WORLD + i;
        fails_to_make(flavor, false, "no memory", false);
    }
    for (int i = 0; i < 6; i++) {
        imports_left = i;
        fails_to_make(flavor, false, i < 3 ? unreached : "the memory of a rank cannot be reached", false);
    }
    fails_to_make(MPI_WIN_FLAVOR_SHARED, false, "not all ranks are on one node", false);
    memory_of[NEAR].map = 0;
    fails_to_make(MPI_WIN_FLAVOR_SHARED, true, "not all ranks are on one node", false);
    guests_refused = 1;
    fails_to_make(flavor, false, "its lock has no guests", false);
    shadow_fails = 15;
    fails_to_make(flavor, false, "the MPI makes no handle for it", false);
    fake_all = 0;
    fails_to_make(flavor, false, "another rank cannot", true);
    struct lmpi_offer offer = {.unit = 4, .bytes = 64, .flavor = flavor};
    makes_left = 0;
    RETURNS(lmpi_offer_new(&offer, 64));
    CHECK(!offer.made && !offer.base && strcmp(offer.why_not, "no memory is left; set LATERAL_MEMORY larger") == 0);
    CHECK(lmpi_window_make(&offer, COMM(3), MPI_INFO_NULL) == 0);
    CHECK(strcmp(offer.why_not, "no memory is left; set LATERAL_MEMORY larger") == 0);
    RETURNS(lmpi_offer_drop(&offer));
    nothing_left();
}

#endif
