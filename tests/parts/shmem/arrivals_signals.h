/* The signals of arrivals.c, which includes this behind the files under test. */
#ifndef TESTS_TRUST_ARRIVALS_SIGNALS_H
#define TESTS_TRUST_ARRIVALS_SIGNALS_H

static uint64_t signal_at(int pe)
{
    uint64_t value;
    memcpy(&value, memory_of(pe) + 64, sizeof value);
    return value;
}

static void signals(void)
{
    uint64_t *word = (uint64_t *)(void *)(heap[0] + 64);
    char local[12] = "abcdefghijk";
    for (int pe = 1; pe < NPES; pe++) {
        char *there = memory_of(pe);
        memset(there, 0, 128);
        lat_signal_far("call", &ctx, word, 7, SHMEM_SIGNAL_SET, pe);
        NOTED(pe == FAR ? "nb put on lanes to 2 at 1+0 0 of -1 with set 7 weight 0 at 64; " : "");
        CHECK(pe == FAR || signal_at(pe) == 7);
        lat_signal_far("call", LAT_CTX_DEFAULT, word, 5, SHMEM_SIGNAL_ADD, pe);
        NOTED(pe == FAR ? "nb put to 2 at 1+0 0 of -1 with add 5 weight 0 at 64; " : "");
        CHECK(pe == FAR || signal_at(pe) == 12);
        uccs_request_handle req = 0;
        lat_put_signal_far("call", &ctx, heap[0], local, 12, word, 5, SHMEM_SIGNAL_SET, pe, false, &req);
        NOTED(pe == FAR ? "nb put on lanes to 2 at 1+0 12 of 97 with set 5 weight 0 at 64 req; " : "");
        CHECK(pe == FAR || (signal_at(pe) == 5 && memcmp(there, local, 12) == 0 && req == UCCS_REQUEST_DIRTY));
        memset(there, 0, 16);
        lat_put_signal_far("call", &ctx, heap[0], local, 8, word, 5, SHMEM_SIGNAL_ADD, pe, true, 0);
        NOTED(pe == FAR ? "put on lanes to 2 at 1+0 8 of 97 with add 5 weight 0 at 64; " : "");
        CHECK(pe == FAR || (signal_at(pe) == 10 && memcmp(there, local, 8) == 0 && !there[8]));
        lat_put_signal_far("call", &ctx, 0, 0, 0, word, 1, SHMEM_SIGNAL_SET, pe, true, 0);
        NOTED(pe == FAR ? "put on lanes to 2 at 1+0 0 of -1 with set 1 weight 0 at 64; " : "");
        CHECK(pe == FAR || signal_at(pe) == 1);
    }
}

static void signals_of_adapters(void)
{
    uint64_t *word = (uint64_t *)(void *)adapters;
    uccs_request_handle req = 0;
    lat_put_signal_far("call", &ctx, heap[0], "ab", 2, word, 5, SHMEM_SIGNAL_ADD, FAR, false, &req);
    NOTED("nb put on lanes to 2 at 1+0 2 of 97 req; "
          "post behind req adapter amo on lanes to 2 at 1+8192 op 4 size 8 5 if 0; ");
    lat_put_signal_far("call", &ctx, heap[0], 0, 0, word, 5, SHMEM_SIGNAL_SET, FAR, true, 0);
    NOTED("post behind adapter amo on lanes to 2 at 1+8192 op 1 size 8 5 if 0; ");
    lat_signal_far("call", &ctx, word, 5, SHMEM_SIGNAL_SET, FAR);
    NOTED("post behind adapter amo on lanes to 2 at 1+8192 op 1 size 8 5 if 0; ");
}

static uint64_t *awaited_word;

static void raise_word(void)
{
    *awaited_word += 2;
}

static void signals_by_name(void)
{
    uint64_t *word = awaited_word = (uint64_t *)(void *)(heap[0] + 64);
    memset(heap, 0, sizeof heap);
    lat_signal_set(word, 7, 1);
    lat_signal_add(word, 3, 1);
    CHECK(signal_at(1) == 10 && signal_at(0) == 0);
    lat_ctx_signal_set(&ctx, word, 4, 1);
    CHECK(signal_at(1) == 4);
    lat_ctx_signal_add(&ctx, word, 4, 1);
    CHECK(signal_at(1) == 8);
    REFUSED(lat_ctx_signal_add(&ctx, word, 4, NPES), "shmem_ctx_signal_add: wrong context for 4");
    REFUSED(lat_ctx_signal_set(&ctx, word, 4, NPES), "shmem_ctx_signal_set: wrong context for 4");
    paused_plan(3, raise_word);
    CHECK(lat_signal_wait_until(word, SHMEM_CMP_EQ, 2) == 2);
    PAUSED(3);
    CHECK(lat_signal_wait_until(word, SHMEM_CMP_NE, 1) == 2 && lat_signal_fetch(word) == 2);
    lat_state = LAT_AFTER;
    REFUSED(lat_signal_far("call", &ctx, word, 1, SHMEM_SIGNAL_SET, FAR), "call: called after the last shmem_finalize");
    REFUSED(lat_signal_fetch(word), "shmem_signal_fetch: called after the last shmem_finalize");
    REFUSED(lat_signal_wait_until(word, SHMEM_CMP_EQ, 2),
            "shmem_signal_wait_until: called after the last shmem_finalize");
    lat_state = LAT_RUNNING;
    NOTED("");
}

#endif
