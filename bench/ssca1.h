/* The parts of SSCA#1 that communicate little: codons, scores, the list of endings, one alignment.
 *
 * A codon is three bases, a number in base 4 with a 0, g 1, c 2, t 3. Sequences are random except for planted words of
 * amino acids, so the three best alignments are known. Only ssca1.c includes this, once. */
#ifndef BENCH_SSCA1_H
#define BENCH_SSCA1_H
#include "bench.h"

enum {
    SSCA1_MOST_PES = 64,
    SSCA1_MIN_SCORE = 20,
    SSCA1_KEPT = 200,  /* endings */
    SSCA1_APART = 5,   /* distance in both sequences; of closer endings only the better one stays */
    SSCA1_BEST = 3,    /* alignments that the benchmark writes out */
    SSCA1_WINDOW = 96, /* codons before an ending that its alignment may take */
    SSCA1_NO_GAP = -1000000
};

struct ending {
    int score, m, n;
};

struct endings {
    int count;
    struct ending list[SSCA1_KEPT];
};

struct alignment {
    char text[2][2 * SSCA1_WINDOW + 1];
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

/* Kernel 2 for one ending. best[state][i][j] is the best alignment of the last i + 1 and j + 1 codons that begins with
 * a pair, or with a gap that takes main or match. It is built from the ending backwards. */
enum ssca1_state { SSCA1_PAIR, SSCA1_MAIN, SSCA1_MATCH };

struct ssca1_table {
    int best[3][SSCA1_WINDOW][SSCA1_WINDOW];
    const int *a, *b; /* the last codons */
};

static inline int ssca1_most(int x, int y, int z)
{
    int most = x > y ? x : y;
    return most > z ? most : z;
}

static inline void ssca1_cell(struct ssca1_table *t, int i, int j)
{
    int pair = ssca1_pair(t->a[-i], t->b[-j]), before = SSCA1_NO_GAP;
    if (i > 0 && j > 0)
        before = ssca1_most(t->best[SSCA1_PAIR][i - 1][j - 1], t->best[SSCA1_MAIN][i - 1][j - 1],
                            t->best[SSCA1_MATCH][i - 1][j - 1]);
    else if (i == 0 && j == 0)
        before = 0;
    t->best[SSCA1_PAIR][i][j] = before + pair;
    t->best[SSCA1_MAIN][i][j] = t->best[SSCA1_MATCH][i][j] = SSCA1_NO_GAP;
    if (i > 0)
        t->best[SSCA1_MAIN][i][j] =
            ssca1_most(t->best[SSCA1_MAIN][i - 1][j] - 2, t->best[SSCA1_PAIR][i - 1][j] - 7, SSCA1_NO_GAP);
    if (j > 0)
        t->best[SSCA1_MATCH][i][j] =
            ssca1_most(t->best[SSCA1_MATCH][i][j - 1] - 2, t->best[SSCA1_PAIR][i][j - 1] - 7, SSCA1_NO_GAP);
}

/* Writes the alignment from its beginning to its ending, a step at a time. Returns the score of the written text by the
 * rules alone, for the caller to check. */
static inline int ssca1_write(const struct ssca1_table *t, int i, int j, struct alignment *to)
{
    enum ssca1_state state = SSCA1_PAIR, before = SSCA1_PAIR;
    int score = 0, length = 0;
    for (;;) {
        to->text[0][length] = state == SSCA1_MATCH ? '-' : ssca1_amino[t->a[-i]];
        to->text[1][length++] = state == SSCA1_MAIN ? '-' : ssca1_amino[t->b[-j]];
        to->text[0][length] = to->text[1][length] = 0;
        score += state == SSCA1_PAIR ? ssca1_pair(t->a[-i], t->b[-j]) : state == before ? -2 : -7;
        before = state;
        if (i == 0 && j == 0)
            return score;
        int rest = t->best[state][i][j];
        if (state == SSCA1_PAIR) {
            rest -= ssca1_pair(t->a[-i], t->b[-j]);
            i--, j--;
            state = t->best[SSCA1_PAIR][i][j] == rest   ? SSCA1_PAIR
                    : t->best[SSCA1_MAIN][i][j] == rest ? SSCA1_MAIN
                                                        : SSCA1_MATCH;
        } else {
            i -= state == SSCA1_MAIN;
            j -= state == SSCA1_MATCH;
            state = t->best[SSCA1_PAIR][i][j] - 7 == rest ? SSCA1_PAIR : state;
        }
    }
}

/* Finds the shortest alignment with that score that ends at the last of m codons of a and of n of b. Returns 1, or 0
 * when there is none or when the written text has another score. */
static inline int ssca1_align(struct alignment *to, int score, const int *a, int m, const int *b, int n)
{
    static struct ssca1_table t;
    t.a = a + m - 1;
    t.b = b + n - 1;
    for (int sum = 0; sum < m + n - 1; sum++)
        for (int i = sum < n ? 0 : sum - n + 1; i <= sum && i < m; i++) {
            ssca1_cell(&t, i, sum - i);
            if (t.best[SSCA1_PAIR][i][sum - i] == score)
                return ssca1_write(&t, i, sum - i, to) == score;
        }
    return 0;
}

static inline int ssca1_planted(const struct alignment *best)
{
    static const char *const texts[SSCA1_BEST][2] = {{"*IDENTICAL*", "*IDENTICAL*"},
                                                     {"*MISQRMATCHES*", "*MISRQMATCHES*"},
                                                     {"*STARTGAPMIDST---END*", "*START---MIDSTGAPEND*"}};
    for (int i = 0; i < SSCA1_BEST; i++)
        if (strcmp(best[i].text[0], texts[i][0]) != 0 || strcmp(best[i].text[1], texts[i][1]) != 0)
            return 0;
    return 1;
}
#endif
