/* Of life.c: sessions whose memory runs out, or just holds what is set. */
#ifndef TESTS_PARTS_LIFE_SESSIONS_H
#define TESTS_PARTS_LIFE_SESSIONS_H

#include "life_world.h"

static void sessions_without_memory(void)
{
    const uccs_group_t one = (uccs_group_t)team;
    uccs_rte_session_t session = NULL;
    const size_t before = owned_count;
    for (int left = 0; left < 3; left++) {
        owned_left = left;
        CHECK(uccs_rte_session_create(one, 0, &session) == UCCS_RTE_ERROR_OUT_OF_RESOURCE && !session && called(""));
        CHECK(owned_count == before && owned_left == -1);
    }
    create_status = UCCS_ERR_NO_MEMORY;
    CHECK(uccs_rte_session_create(one, 0, &session) == UCCS_RTE_ERROR_OUT_OF_RESOURCE && !session && called("c"));
    CHECK(owned_count == before);
    create_status = UCCS_OK;
    CHECK(uccs_rte_session_create(one, 0, &session) == UCCS_RTE_SUCCESS && called("c") && owned_count == before + 2);
    CHECK(uccs_rte_session_destroy(session) == UCCS_RTE_SUCCESS && called("bd") && owned_count == before);
}

/* Values fill their room to the last byte; padding is zero. An exchange that fails keeps what the last one has brought. */
static void session_fills(void)
{
    static char words[] = "0123456789abcdef";
    const struct uccs_rte_iovec value = {words, &uccs_rte_int1, 13};
    const void *found;
    size_t bytes, before = owned_count;
    uccs_rte_session_t session;
    CHECK(uccs_rte_session_create((uccs_group_t)team, 0, &session) == UCCS_RTE_SUCCESS && called("c"));
    owned_left = 0;
    CHECK(uccs_rte_session_set(session, "key", &value, 1) == UCCS_RTE_ERROR_OUT_OF_RESOURCE && session->used == 0);
    for (size_t i = 1; i <= 5; i++) { /* 40 bytes each; room for 80, then for 240 */
        CHECK(uccs_rte_session_set(session, "key", &value, 1) == UCCS_RTE_SUCCESS && session->used == 40 * i);
        owned_good(session->mine);
        CHECK(session->room == (i <= 2 ? 80 : 240) && owned_bytes(session->mine) == session->room);
        for (size_t at = 40 * i - 40; at < 40 * i; at++)
            CHECK((at % 40 < 20 || (at % 40 >= 24 && at % 40 < 37)) || session->mine[at] == 0);
    }
    CHECK(uccs_rte_session_get(session, (uccs_rte_ec_t)2, "key", &found, &bytes) == UCCS_RTE_ERROR_NOT_FOUND);
    CHECK(uccs_rte_session_exchange(session) == UCCS_RTE_SUCCESS && called("gg") && owned_count == before + 4);
    CHECK(uccs_rte_session_get(session, (uccs_rte_ec_t)2, "key", &found, &bytes) == UCCS_RTE_SUCCESS && bytes == 13);
    CHECK(memcmp(found, words, 13) == 0 && session->stride == 200);
    owned_left = 0;
    CHECK(uccs_rte_session_exchange(session) == UCCS_RTE_ERROR_OUT_OF_RESOURCE && called("g"));
    CHECK(uccs_rte_session_get(session, (uccs_rte_ec_t)2, "key", &found, &bytes) == UCCS_RTE_SUCCESS && bytes == 13);
    CHECK(uccs_rte_session_exchange(session) == UCCS_RTE_SUCCESS && called("gg") && owned_count == before + 4);
    CHECK(uccs_rte_session_destroy(session) == UCCS_RTE_SUCCESS && called("bd") && owned_count == before);
}

static void empty_session(void)
{
    const size_t before = owned_count;
    uccs_rte_session_t session;
    CHECK(uccs_rte_session_create((uccs_group_t)team, 0, &session) == UCCS_RTE_SUCCESS);
    CHECK(uccs_rte_session_exchange(session) == UCCS_RTE_SUCCESS && session->stride == 8);
    owned_good(session->all);
    CHECK(owned_bytes(session->all) == 8 && uccs_rte_session_destroy(session) == UCCS_RTE_SUCCESS);
    CHECK(owned_count == before && called("cggbd"));
}

#endif
