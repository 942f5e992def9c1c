/* What targets share: reading an input bit by bit. A target is a file target_NAME.c with LLVMFuzzerTestOneInput; its inputs
 * lie in corpus/NAME. `./dev fuzz NAME` looks for new ones; the tests replay the corpus (replay.c). */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is not true breaks the target, with its place and text. */
#define FUZZ_CHECK(condition) \
    ((condition) ? (void)0 : (void)(fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition), abort()))

struct fuzz {
    const uint8_t *at;
    size_t left;
};

/* Copies the next bytes; zeros behind the end. */
static inline void fuzz_take(struct fuzz *fuzz, void *to, size_t bytes)
{
    size_t there = bytes < fuzz->left ? bytes : fuzz->left;
    memset(to, 0, bytes);
    if (there)
        memcpy(to, fuzz->at, there);
    fuzz->at += there;
    fuzz->left -= there;
}

static inline uint8_t fuzz_byte(struct fuzz *fuzz)
{
    uint8_t byte;
    fuzz_take(fuzz, &byte, 1);
    return byte;
}

static inline uint16_t fuzz_short(struct fuzz *fuzz)
{
    uint16_t word;
    fuzz_take(fuzz, &word, sizeof word);
    return word;
}

#endif
