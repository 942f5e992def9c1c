/* Sessions of uccs_rte.h: what each member has set, and what others find, whatever their numbers of values and their lengths. The members
 * are made up: this process is one after another of them, and gathers what they have given. */
#include "uccs/core/core.h"

static bool runs = true;
#define uccs_running() runs
#include "uccs/env/exchange.c"
#undef uccs_running

#include "unit/child.h"

#include <unistd.h>

enum { MEMBERS = 3, GROUP = 16 };

static int me, size = MEMBERS, barriers, groups, gathered;
static bool refuses;
static const struct uccs_rte_dt one_byte = {1}, four_bytes = {4}, eight_bytes = {8};
static uccs_rte_session_t sessions[MEMBERS];

int uccs_group_size(uccs_group_t group)
{
    CHECK(group);
    return size;
}

int uccs_group_rank(uccs_group_t group)
{
    CHECK(group);
    return me;
}

int uccs_group_create(uccs_group_t parent, size_t count, const int *ranks, uccs_group_t *group)
{
    CHECK(parent && count == MEMBERS);
    for (int rank = 0; rank < MEMBERS; rank++)
        CHECK(ranks[rank] == rank);
    if (refuses)
        return UCCS_ERR_NO_MEMORY;
    *group = parent;
    groups++;
    return UCCS_OK;
}

int uccs_group_release(uccs_group_t group)
{
    CHECK(group && barriers > 0);
    groups--;
    return UCCS_OK;
}

int uccs_barrier(uccs_group_t group)
{
    CHECK(group && groups > 0);
    barriers++;
    return UCCS_OK;
}

/* What the other members give, of lengths or of values. */
int uccs_allgather(uccs_group_t group, const void *mine, void *all, size_t bytes)
{
    static const char none[8];
    CHECK(group);
    if (refuses && gathered++ == 0)
        return UCCS_ERR_NO_MEMORY;
    for (int rank = 0; rank < MEMBERS; rank++) {
        char *const to = (char *)all + (size_t)rank * bytes;
        uint64_t used = sessions[rank]->used;
        const void *from = bytes == sizeof used && mine != to ? (void *)&used : used ? sessions[rank]->mine : none;
        if (rank == me)
            CHECK(bytes == sizeof used && mine != to ? memcmp(mine, &used, bytes) == 0 : memcmp(mine, from, used) == 0);
        if (to != mine)
            memcpy(to, from, bytes == sizeof used && from == &used ? bytes : used);
    }
    return UCCS_OK;
}

uint32_t uccs_rte_ec_index(uccs_group_t group, uccs_rte_ec_t ec)
{
    CHECK(group);
    return (uintptr_t)ec - 1 < MEMBERS ? (uint32_t)(uintptr_t)ec - 1 : UINT32_MAX;
}

static uccs_group_t world(void)
{
    static char room[GROUP];
    return (uccs_group_t)room;
}

static uccs_rte_ec_t process(int rank)
{
    return (uccs_rte_ec_t)(uintptr_t)(rank + 1);
}

static void create_all(void)
{
    for (int rank = 0; rank < MEMBERS; rank++)
        CHECK(uccs_rte_session_create(world(), 7, &sessions[rank]) == UCCS_RTE_SUCCESS);
    CHECK(groups == MEMBERS);
}

static void destroy_all(void)
{
    for (int rank = 0; rank < MEMBERS; rank++) {
        barriers = 0;
        CHECK(uccs_rte_session_destroy(sessions[rank]) == UCCS_RTE_SUCCESS &&
              barriers == 1); /* others may still read */
    }
    CHECK(groups == 0);
}

static void set_text(int rank, const char *key, const char *text)
{
    const struct uccs_rte_iovec value = {(void *)(uintptr_t)text, &one_byte, (uint32_t)strlen(text)};
    CHECK(uccs_rte_session_set(sessions[rank], key, &value, 1) == UCCS_RTE_SUCCESS);
}

static void exchange_all(void)
{
    for (me = 0; me < MEMBERS; me++)
        CHECK(uccs_rte_session_exchange(sessions[me]) == UCCS_RTE_SUCCESS);
}

/* All members find the same. */
static void finds(int rank, const char *key, const char *text)
{
    for (int reader = 0; reader < MEMBERS; reader++) {
        const void *value = 0;
        size_t bytes = 999;
        const int status = uccs_rte_session_get(sessions[reader], process(rank), key, &value, &bytes);
        CHECK(status == (text ? UCCS_RTE_SUCCESS : UCCS_RTE_ERROR_NOT_FOUND));
        CHECK(!text || (bytes == strlen(text) && memcmp(value, text, bytes) == 0 && (uintptr_t)value % 8 == 0));
        CHECK(text || (bytes == 999 && !value));
    }
}

static void values(void)
{
    char many[3000];
    memset(many, 'm', sizeof many);
    many[sizeof many - 1] = 0;
    create_all();
    finds(1, "a", 0);
    exchange_all(); /* of nothing */
    finds(1, "a", 0);
    set_text(1, "b", "x"); /* the longest of all is short */
    exchange_all();
    finds(1, "b", "x");
    set_text(0, "a", "first");
    set_text(0, "seven77", "sevens7");
    set_text(0, "eight888", "eights88");
    set_text(0, "a", "the last one counts");
    set_text(0, "", "of no name");
    set_text(2, "a", many);
    set_text(2, "none", "");
    finds(0, "a", 0); /* not exchanged yet */
    exchange_all();
    finds(0, "a", "the last one counts");
    finds(0, "seven77", "sevens7");
    finds(0, "eight888", "eights88");
    finds(0, "", "of no name");
    finds(0, "seven7", 0);
    finds(1, "a", 0);
    finds(2, "a", many);
    finds(2, "none", "");
    finds(2, "b", 0);
    set_text(1, "a", "now");
    exchange_all();
    finds(1, "a", "now");
    finds(2, "a", many);
    finds(0, "eight888", "eights88");
    destroy_all();
}

static void parts(void)
{
    int32_t numbers[3] = {1, 2, 3};
    char text[] = "text";
    const void *value;
    size_t bytes;
    struct uccs_rte_iovec three[] = {{numbers, &four_bytes, 3}, {0, &eight_bytes, 0}, {text, &one_byte, 5}};
    create_all();
    CHECK(uccs_rte_session_set(sessions[0], "parts", three, 3) == UCCS_RTE_SUCCESS);
    exchange_all();
    CHECK(uccs_rte_session_get(sessions[1], process(0), "parts", &value, &bytes) == UCCS_RTE_SUCCESS);
    CHECK(bytes == 17 && memcmp(value, numbers, 12) == 0 && memcmp((const char *)value + 12, text, 5) == 0);
    three[2].type = 0;
    CHECK(uccs_rte_session_set(sessions[0], "parts", three, 3) == UCCS_RTE_ERROR_BAD_INPUT);
    three[2] = (struct uccs_rte_iovec){0, &one_byte, 1};
    CHECK(uccs_rte_session_set(sessions[0], "parts", three, 3) == UCCS_RTE_ERROR_BAD_INPUT);
    destroy_all();
}

static void wrong(void)
{
    const void *value;
    size_t bytes;
    create_all();
    CHECK(uccs_rte_session_create(world(), 7, 0) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_session_set(0, "a", 0, 0) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_session_set(sessions[0], 0, 0, 0) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_session_set(sessions[0], "a", 0, 1) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_session_get(0, process(0), "a", &value, &bytes) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_session_get(sessions[0], process(0), 0, &value, &bytes) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_session_get(sessions[0], process(0), "a", 0, &bytes) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_session_get(sessions[0], process(0), "a", &value, 0) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_session_get(sessions[0], process(MEMBERS), "a", &value, &bytes) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_session_exchange(0) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_session_destroy(0) == UCCS_RTE_ERROR_BAD_INPUT);
    refuses = true;
    CHECK(uccs_rte_session_exchange(sessions[0]) == UCCS_RTE_ERROR);
    refuses = false;
    destroy_all();
}

static void not_made(void)
{
    uccs_rte_session_t none = 0;
    size = 0;
    CHECK(uccs_rte_session_create(world(), 7, &none) == UCCS_RTE_ERROR_BAD_INPUT);
    size = -1;
    CHECK(uccs_rte_session_create(world(), 7, &none) == UCCS_RTE_ERROR_BAD_INPUT);
    size = MEMBERS;
    runs = false;
    CHECK(uccs_rte_session_create(world(), 7, &none) == UCCS_RTE_ERROR_BAD_INPUT);
    runs = true;
    refuses = true;
    CHECK(uccs_rte_session_create(world(), 7, &none) == UCCS_RTE_ERROR_OUT_OF_RESOURCE && !none && groups == 0);
}

int main(void)
{
    in_a_child(values);
    in_a_child(parts);
    in_a_child(wrong);
    in_a_child(not_made);
    return 0;
}
