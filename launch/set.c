#include "set.h"

#include "message.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t set_words(uint32_t size)
{
    return size / 64 + 1;
}

struct set set_make(uint32_t size)
{
    return (struct set){.size = size, .words = say_if_null(calloc(set_words(size), sizeof(uint64_t)))};
}

struct set set_copy(const struct set *set)
{
    struct set copy = set_make(set->size);
    set_add_all(&copy, set);
    return copy;
}

void set_free(struct set *set)
{
    free(set->words);
    *set = (struct set){0};
}

bool set_has(const struct set *set, uint32_t number)
{
    return number < set->size && (set->words[number / 64] >> number % 64 & 1);
}

void set_add(struct set *set, uint32_t number)
{
    if (number >= set->size || set_has(set, number))
        return;
    set->words[number / 64] |= UINT64_C(1) << number % 64;
    set->count++;
}

void set_add_all(struct set *set, const struct set *more)
{
    for (size_t i = 0; i < set_words(set->size); i++) {
        set->count += (uint32_t)__builtin_popcountll(more->words[i] & ~set->words[i]);
        set->words[i] |= more->words[i];
    }
}

bool set_equal(const struct set *one, const struct set *other)
{
    return one->size == other->size && memcmp(one->words, other->words, set_words(one->size) * sizeof(uint64_t)) == 0;
}

/* Three numbers in a row and more are written as their first and last. */
static uint32_t write_part(const struct set *set, uint32_t from, uint32_t first, char *text, size_t room, size_t *used)
{
    *used = 0;
    text[0] = 0;
    for (; from < set->size; from++) {
        if (!set_has(set, from))
            continue;
        uint32_t to = from;
        if (*used + 32 > room)
            return from;
        while (set_has(set, to + 1))
            to++;
        to = to - from < 2 ? from : to;
        *used += (size_t)snprintf(text + *used, room - *used, "%s%u", *used ? "," : "", from + first);
        if (to != from)
            *used += (size_t)snprintf(text + *used, room - *used, "-%u", to + first);
        from = to;
    }
    return set->size;
}

uint32_t set_write_part(const struct set *set, uint32_t from, char *text, size_t room)
{
    size_t used;
    return write_part(set, from, 0, text, room, &used);
}

int set_write(const struct set *set, uint32_t first, char *text, size_t room)
{
    size_t used;
    if (write_part(set, 0, first, text, room, &used) < set->size)
        used += (size_t)snprintf(text + used, room - used, ",...");
    return (int)used;
}

bool set_read(struct set *set, const char *text)
{
    for (;; text++) {
        char *end;
        if (!isdigit((unsigned char)*text))
            return strcmp(text, "...") == 0;
        unsigned long from = strtoul(text, &end, 10), to = from;
        if (*end == '-' && isdigit((unsigned char)end[1]))
            to = strtoul(end + 1, &end, 10);
        if (from > to || (*end && *end != ','))
            return false;
        set->beyond |= to >= set->size;
        for (; from <= to && from < set->size; from++)
            set_add(set, (uint32_t)from);
        if (!*end)
            return true;
        text = end;
    }
}
