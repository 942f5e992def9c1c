/* The parts of SSCA#1 that communicate little: codons, scores, the list of endings.
 *
 * A codon is three bases, a number in base 4 with a 0, g 1, c 2, t 3. Sequences are random except for planted words of
 * amino acids, so the three best alignments are known. Only ssca1.c includes this, once. */
#ifndef BENCH_SSCA1_H
#define BENCH_SSCA1_H
#include "bench.h"

enum {
    SSCA1_MOST_PES = 64,
    SSCA1_MIN_SCORE = 20,
    SSCA1_KEPT = 200, /* endings */
    SSCA1_APART = 5,  /* distance in both sequences; of closer endings only the better one stays */
    SSCA1_NO_GAP = -1000000
};

struct ending {
    int score, m, n;
};

struct endings {
    int count;
    struct ending list[SSCA1_KEPT];
};

/* Amino acid of each codon: first base by first base, in the order a, g, c, t of all three bases. */
static const char ssca1_amino[] = "KKNNRRSSTTTTIMIIEEDDGGGGAAAAVVVVQQHHRRRRPPPPLLLL**YY*WCCSSSSLLFF";

/* The words planted in the main and in the match sequence, and their places: a part of the length, in eighths. */
static const char *const ssca1_words[2][3] = {{"ACDEFG*IDENTICAL*HIKLMN", "ACDEFG*MISQRMATCHES*HIKLMN",
                                               "ACDEFG*STARTGAPMIDSTEND*HIKLMN"},
                                              {"MNLKIH*IDENTICAL*GFEDCA", "MNLKIH*MISRQMATCHES*GFEDCA",
                                               "MNLKIH*STARTMIDSTGAPEND*GFEDCA"}};
static const int ssca1_places[2][3] = {{1, 3, 6}, {4, 2, 5}};

/* Returns the codon for an amino acid in the planted words. The benchmark chose them. */
static inline int ssca1_codon(char letter)
{
    static const char letters[] = "ACDEFGHIKLMNPQRSTVWY*";
    static const char codons[] = {25, 54, 18, 17, 62, 21, 34, 12, 1, 45, 13, 2, 41, 33, 5, 6, 9, 29, 53, 50, 52};
    return codons[strchr(letters, letter) - letters];
}

static inline int ssca1_pair(int a, int b)
{
    return a == b ? 5 : ssca1_amino[a] == ssca1_amino[b] ? 4 : -3;
}

static inline int ssca1_length(int scale)
{
    int length = 1;
    while ((double)length * length < (double)(1L << scale))
        length++;
    return length + 3 * 32;
}

/* Fills in codons first to first + count - 1 of a sequence. They are the same for any number of PEs. */
static inline void ssca1_fill(int *codons, int sequence, int first, int count, int length)
{
    for (int i = 0; i < count; i++) {
        uint64_t x = ((uint64_t)(first + i) * 2 + (uint64_t)sequence + 1) * 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        codons[i] = (int)(x >> 58);
        for (int w = 0; w < 3; w++) {
            const char *word = ssca1_words[sequence][w];
            int at = first + i - length * ssca1_places[sequence][w] / 8;
            if (at >= 0 && at < (int)strlen(word))
                codons[i] = ssca1_codon(word[at]);
        }
    }
}

static inline int ssca1_near(struct ending a, struct ending b)
{
    return abs(a.m - b.m) < SSCA1_APART && abs(a.n - b.n) < SSCA1_APART;
}

/* Adds an ending. Of endings that lie close together the best stays; when the list is full the worst goes. */
static inline void ssca1_keep(struct endings *endings, struct ending one)
{
    int worst = 0;
    for (int i = 0; i < endings->count; i++) {
        if (ssca1_near(endings->list[i], one)) {
            if (endings->list[i].score < one.score)
                endings->list[i] = one;
            return;
        }
        worst = endings->list[i].score < endings->list[worst].score ? i : worst;
    }
    if (endings->count < SSCA1_KEPT)
        endings->list[endings->count++] = one;
    else if (endings->list[worst].score < one.score)
        endings->list[worst] = one;
}

static int ssca1_order(const void *a, const void *b)
{
    const struct ending *x = a, *y = b;
    if (x->score != y->score)
        return y->score - x->score;
    return x->m != y->m ? x->m - y->m : x->n - y->n;
}

/* Collective. Gives every PE the endings of all PEs, best first. */
static inline void ssca1_gather(struct endings *mine)
{
    static struct endings all[SSCA1_MOST_PES]; /* symmetric */
    for (int pe = 0; pe < bench.pes; pe++)
        shmem_putmem(&all[bench.me], mine, sizeof *mine, pe);
    shmem_barrier_all();
    mine->count = 0;
    for (int pe = 0; pe < bench.pes; pe++)
        for (int i = 0; i < all[pe].count; i++)
            ssca1_keep(mine, all[pe].list[i]);
    qsort(mine->list, (size_t)mine->count, sizeof mine->list[0], ssca1_order);
    shmem_barrier_all();
}

static inline unsigned long ssca1_sum(const struct endings *endings)
{
    unsigned long sum = 0;
    for (int i = 0; i < endings->count; i++)
        sum = sum * 31 + (unsigned)endings->list[i].score * 1000003ul + (unsigned)endings->list[i].m * 1009ul +
              (unsigned)endings->list[i].n;
    return sum;
}

/* Whether the best endings are those of the planted words: each ends at its last '*'. Pairs score 5, a mismatch -3, a gap of
 * three -11. */
static inline int ssca1_planted(const struct endings *endings, int length)
{
    static const int scores[3] = {11 * 5, 12 * 5 - 2 * 3, 15 * 5 - 2 * 11};
    int end[2];
    for (int w = 0; w < 3; w++) {
        for (int s = 0; s < 2; s++)
            end[s] = length * ssca1_places[s][w] / 8 + (int)(strrchr(ssca1_words[s][w], '*') - ssca1_words[s][w]);
        const struct ending *one = &endings->list[w];
        if (w >= endings->count || one->score != scores[w] || one->m != end[0] || one->n != end[1])
            return 0;
    }
    return 1;
}
#endif
