/* Sets of PEs, and how they are written: "0,2,3", "0-5,7". Plain memory, one thread. */
#ifndef LAUNCH_SET_H
#define LAUNCH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct set {
    uint32_t size, count; /* numbers are below size; count of them are in */
    bool beyond;          /* a text had others */
    uint64_t *words;      /* bits */
};

struct set set_make(uint32_t size);
struct set set_copy(const struct set *set);
void set_free(struct set *set);
void set_add(struct set *set, uint32_t number);
/* Adds the numbers of a set of the same size. */
void set_add_all(struct set *set, const struct set *more);
bool set_has(const struct set *set, uint32_t number);
bool set_equal(const struct set *one, const struct set *other);

/* Writes the numbers, each larger by `first`; cuts a long list with "...". Returns the length of the text. */
int set_write(const struct set *set, uint32_t first, char *text, size_t room);

/* Writes as many of the numbers from `from` on as there is room for. Returns the first number that is not written, or the size. */
uint32_t set_write_part(const struct set *set, uint32_t from, char *text, size_t room);

/* Adds the numbers of such a text. Returns false when it is none. */
bool set_read(struct set *set, const char *text);

#endif
