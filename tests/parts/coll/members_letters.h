/* Letters of members.c: which one a key finds, where it lies, and what becomes of it. */
#ifndef TESTS_TRUST_MEMBERS_LETTERS_H
#define TESTS_TRUST_MEMBERS_LETTERS_H

#include "members_stub.h"

static struct uccs_letter_key key_with(int which, uint32_t value)
{
    struct uccs_letter_key key = {.group = 1, .sequence = 2, .source = 0, .round = 4, .piece = 5};
    key.group = which == 0 ? value : key.group;
    key.sequence = which == 1 ? value : key.sequence;
    key.source = which == 2 ? value : key.source;
    key.round = which == 3 ? value : key.round;
    key.piece = which == 4 ? value : key.piece;
    return key;
}

static void post(const struct uccs_letter_key *key, const char *data, size_t length, uint32_t *out)
{
    uccs_core.me = (int)key->source;
    CHECK(uccs_letter_try(1, key, data, length, out));
    while (under_way_count)
        deliver(0);
    uccs_core.me = 0;
}

static void takes(const struct uccs_letter_key *key, const char *data, size_t length, bool staged)
{
    struct uccs_letter *letter = uccs_letter_take(key);
    CHECK(letter != 0 && same(&letter->key, key) && letter->length == length && !owned_held);
    CHECK((letter->block != 0) == staged && (letter->data == letter->copy) == !staged);
    CHECK(owned_bytes(letter) == sizeof *letter + (staged ? 0 : length));
    CHECK(memcmp(letter->data, data, length) == 0);
    uccs_letter_drop(letter);
    CHECK(!uccs_letter_take(key) && !owned_held);
}

/* Keys that differ in one thing are of different letters; those that differ in their piece lie in one bucket. */
static void test_keys(void)
{
    const struct uccs_letter_key right = key_with(-1, 0);
    for (int which = 0; which < 5; which++) {
        const struct uccs_letter_key other = key_with(which, 9);
        CHECK(!uccs_letter_take(&right));
        post(&other, "other", 5, 0);
        CHECK(!uccs_letter_take(&right));
        post(&right, "right", 5, 0);
        takes(&right, "right", 5, false);
        takes(&other, "other", 5, false);
    }
    static const uint32_t orders[][3] = {{1, 2, 3}, {3, 2, 1}, {2, 1, 3}, {2, 3, 1}, {1, 3, 2}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct uccs_letter_key keys[4];
        for (uint32_t piece = 1; piece <= 3; piece++) {
            keys[piece] = key_with(4, piece);
            post(&keys[piece], "0123" + piece, 1, 0);
        }
        for (int k = 0; k < 3; k++)
            takes(&keys[orders[i][k]], "0123" + orders[i][k], 1, false);
    }
    CHECK(owned_count == 0);
}

/* Letters of different groups, numbers, sources and rounds seldom share a bucket. */
static void test_buckets(void)
{
    for (int which = 0; which < 4; which++) {
        bool used[BUCKETS] = {0};
        int buckets_used = 0;
        for (uint32_t i = 0; i < BUCKETS; i++) {
            const struct uccs_letter_key key = key_with(which, i);
            bool *one = &used[bucket_of(&key) - buckets];
            buckets_used += !*one;
            *one = true;
        }
        CHECK(buckets_used > BUCKETS / 3);
    }
}

static void test_places(void)
{
    static char data[2000];
    const struct uccs_letter_key key = key_with(-1, 0);
    uint32_t out = 3;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 5 + 1);
    staged_count = 0;
    for (size_t length = 0; length <= LETTER_INLINE; length++) {
        post(&key, data, length, 0);
        takes(&key, data, length, false);
    }
    CHECK(staged_count == 0);
    post(&key, data, LETTER_INLINE + 1, 0);
    takes(&key, data, LETTER_INLINE + 1, true);
    for (size_t length = 0; length < sizeof data; length = 2 * length + 1) {
        post(&key, data, length, &out);
        CHECK(out == 4 && blocks_out == 1);
        takes(&key, data, length, true);
        CHECK(out == 3 && blocks_out == 0);
    }
    refuses = 1;
    CHECK(!uccs_letter_try(1, &key, data, 1, 0) && !uccs_letter_try(1, &key, data, 1, &out) && out == 3);
    refuses = 0;
    CHECK(owned_count == 0 && under_way_count == 0 && blocks_out == 0);
}

/* A letter that does not get away gives its block back. */
static void test_no_way(void)
{
    const struct uccs_letter_key key = key_with(-1, 0);
    uint32_t out = 0;
    refuses = 2;
    for (int i = 0; i < 40; i++) {
        keeps = true;
        if (uccs_letter_try(1, &key, "x", 1, &out)) {
            CHECK(out == 1 && blocks_out == 1 && under_way_count == 1);
            deliver(0);
            refuses = 0;
            takes(&key, "x", 1, true);
            refuses = 2;
        }
        CHECK(out == 0 && blocks_out == 0 && under_way_count == 0 && owned_count == 0);
    }
    refuses = 0;
    keeps = false;
}

/* Who has sent a staged letter is woken when it is done, if it is on this node and at work. */
static void test_bell(void)
{
    static const struct {
        uint32_t source;
        size_t length;
        int rings;
    } rows[] = {{1, 0, 0}, {1, LETTER_INLINE + 1, 1}, {0, LETTER_INLINE + 1, 0}, {3, LETTER_INLINE + 1, 0}};
    char data[LETTER_INLINE + 1] = "";
    uccs_own_of(1)->asleep = uccs_own_of(1)->working = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct uccs_letter_key key = key_with(2, rows[i].source);
        rings = 0;
        post(&key, data, rows[i].length, 0);
        CHECK(rings == 0);
        takes(&key, data, rows[i].length, rows[i].length > 0);
        CHECK(rings == rows[i].rings);
    }
    uccs_own_of(1)->working = 0;
}

/* What nobody has taken goes at the end. */
static void test_letter_close(void)
{
    char data[LETTER_INLINE + 1] = "";
    for (uint32_t i = 0; i < 4 * BUCKETS; i++) {
        const struct uccs_letter_key key = key_with((int)i % 2, i);
        post(&key, data, i % 3 ? 1 : sizeof data, 0);
    }
    uccs_letter_close();
    CHECK(owned_count == 0 && blocks_out == 0);
    for (int i = 0; i < BUCKETS; i++)
        CHECK(!buckets[i].first);
    owned_left = 0;
    const struct uccs_letter_key key = key_with(-1, 0);
    OWNED_FAILS(post(&key, data, 1, 0), "no memory for a message of PE 0");
    under_way_count = 0;
}

static void test_letters(void)
{
    test_keys();
    test_buckets();
    test_places();
    test_no_way();
    test_bell();
    test_letter_close();
}

#endif
