/* A program that is the environment of its job: what the library asks of its table, with which arguments; how the ranks agree on the
 * job's name; and that nothing is called after its owner has ended. The environment is made up. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static char logged[300];
static ssize_t drawn = 16; /* what getrandom returns */

__attribute__((format(printf, 1, 2))) static void note_line(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(logged, sizeof logged, format, arguments);
    va_end(arguments);
}

static ssize_t draw(void *to, size_t bytes, unsigned flags)
{
    memset(to, 0x5a, bytes);
    return bytes == 16 && flags == 0 ? drawn : -1;
}

#define log_line note_line
#define getrandom draw
#include "rte/embed.c"

#include "unit/check.h"

static char self[1];
static int puts_done, gets_done, fences_done, aborts_done, asked; /* calls of the table */
static int answer;                                                /* of put, get and fence */
static int ends;                                                  /* answer of ending */
static const void *told_value;
static size_t told_bytes;
static const char *told_key;
static int told;           /* rank or status */
static const char *others; /* what get finds */
static size_t others_bytes;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static int made_up_put(void *mine, const char *key, const void *value, size_t bytes)
{
    CHECK(mine == self);
    puts_done++;
    told_key = key, told_value = value, told_bytes = bytes;
    return answer;
}

static int made_up_fence(void *mine)
{
    CHECK(mine == self && pthread_mutex_trylock(&held) == 0 &&
          pthread_mutex_unlock(&held) == 0); /* it waits unlocked */
    fences_done++;
    return answer;
}

static int made_up_get(void *mine, int rank, const char *key, void **value, size_t *bytes)
{
    CHECK(mine == self);
    gets_done++;
    told = rank, told_key = key;
    if (others) {
        CHECK((*value = malloc(others_bytes + 1)) != NULL);
        memcpy(*value, others, others_bytes);
        *bytes = others_bytes;
    }
    return answer;
}

static void made_up_abort(void *mine, int status)
{
    CHECK(mine == self);
    aborts_done++;
    told = status;
}

static int made_up_ending(void *mine)
{
    CHECK(mine == self);
    asked++;
    return ends;
}

static struct uccs_environment table = {.rank = 3,
                                        .ranks = 8,
                                        .put = made_up_put,
                                        .fence = made_up_fence,
                                        .get = made_up_get,
                                        .abort = made_up_abort,
                                        .self = self,
                                        .ending = made_up_ending};

static void begin(int rank)
{
    table.rank = rank;
    puts_done = gets_done = fences_done = aborts_done = asked = answer = ends = 0;
    others = 0;
    *logged = 0;
    rte.node = 0;
    CHECK(rte_embed(&table) == 0 && rte_embedded_is_there());
}

/* ---- the name of the job ---- */

static const char name[] = "embedded-5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

static void first_rank_names(void)
{
    struct rte_place place;
    begin(0);
    CHECK(rte_embedded_open(&place) == &backend && place.pe == 0 && place.npes == 8 && strcmp(place.job, name) == 0);
    CHECK(puts_done == 1 && fences_done == 1 && gets_done == 0 && !*logged);
    CHECK(told_value == place.job && told_bytes == sizeof name && strcmp(told_key, "lateral-job") == 0);
    answer = 1;
    CHECK(!rte_embedded_open(&place) && puts_done == 2 && fences_done == 1);
    CHECK(strcmp(logged, "the program that embeds this library (uccs_embed) failed: lateral-job") == 0);
    begin(0);
    drawn = 15;
    CHECK(!rte_embedded_open(&place) && !puts_done && !fences_done && strstr(logged, "(uccs_embed) failed: "));
    drawn = 16;
}

/* Returns whether another rank takes these bytes as the name of the job. */
static bool takes(const char *value, size_t bytes)
{
    struct rte_place place;
    begin(1);
    others = value;
    others_bytes = bytes;
    const struct rte_backend *opened = rte_embedded_open(&place);
    CHECK(place.pe == 1 && place.npes == 8 && !puts_done && fences_done == 1 && gets_done == 1);
    CHECK(told == 0 && strcmp(told_key, "lateral-job") == 0);
    CHECK(!opened == !!*logged && (opened ? memcmp(place.job, value, bytes) == 0 : !*place.job));
    return opened == &backend;
}

static void other_ranks_learn(void)
{
    char longest[RTE_JOB_BYTES + 1];
    struct rte_place place;
    memset(longest, 'x', sizeof longest);
    longest[RTE_JOB_BYTES] = 0;
    CHECK(takes(name, sizeof name) && takes("", 1) && takes(longest + 1, RTE_JOB_BYTES));
    CHECK(!takes(longest, RTE_JOB_BYTES + 1) && !takes(name, sizeof name - 1) && !takes("", 0));
    begin(1);
    answer = -1; /* the fence fails */
    CHECK(!rte_embedded_open(&place) && fences_done == 1 && !gets_done && strstr(logged, "failed: fence"));
}

static int get_fails(void *mine, int rank, const char *key, void **value, size_t *bytes)
{
    (void)mine, (void)rank, (void)key, (void)value, (void)bytes;
    return 2;
}

static void others_hear_nothing(void)
{
    struct rte_place place;
    table.get = get_fails;
    begin(1);
    CHECK(!rte_embedded_open(&place) && fences_done == 1 && strstr(logged, "failed: lateral-job"));
    table.get = made_up_get;
}

/* ---- the launcher's table ---- */

static int meet(void)
{
    pthread_mutex_lock(&held);
    const int status = backend.fence(5, &held);
    CHECK(pthread_mutex_trylock(&held) != 0);
    pthread_mutex_unlock(&held);
    return status;
}

static void hands_on(void)
{
    void *value = 0;
    size_t bytes = 0;
    begin(3);
    CHECK(backend.put("a", self, 7) == 0 && puts_done == 1 && told_value == self && told_bytes == 7 &&
          *told_key == 'a');
    others = "word";
    others_bytes = 5;
    CHECK(backend.get(6, "b", &value, &bytes) == 0 && told == 6 && *told_key == 'b' && bytes == 5);
    CHECK(strcmp(value, "word") == 0 && meet() == 0 && fences_done == 1);
    free(value);
    CHECK(!backend.ending() && asked == 1 && !*logged);
    ends = 1;
    CHECK(backend.ending() && asked == 2);
    CHECK(backend.abort(9) == -1 && aborts_done == 1 && told == 9);
    backend.finish();
    CHECK(!backend.descriptor && strcmp(backend.name, "an embedding program") == 0);
}

static void failures_are_told(void)
{
    void *value = 0;
    size_t bytes = 0;
    begin(3);
    answer = 1;
    CHECK(backend.put("a", self, 7) == -1 && strstr(logged, "failed: a"));
    CHECK(backend.get(6, "b", &value, &bytes) == -1 && strstr(logged, "failed: b"));
    CHECK(meet() == -1 && strstr(logged, "failed: fence"));
    table.ending = 0; /* it may be null */
    begin(3);
    CHECK(!backend.ending() && !asked);
    table.ending = made_up_ending;
}

/* ---- the end of the owner ---- */

static struct node node;

static void nothing_is_called(void)
{
    void *value = 0;
    size_t bytes = 0;
    ends = 1;
    CHECK(backend.put("a", self, 7) == -1 && strstr(logged, "has ended its environment: a"));
    CHECK(backend.get(6, "b", &value, &bytes) == -1 && strstr(logged, "has ended its environment: b"));
    CHECK(meet() == -1 && strstr(logged, "has ended its environment: fence"));
    CHECK(!backend.ending() && backend.abort(9) == -1);
    CHECK(!puts_done && !gets_done && !fences_done && !aborts_done && !asked);
}

static void owner_ends(void)
{
    begin(3);
    CHECK(rte_embed(0) == 0 &&
          !rte_embedded_is_there()); /* the process has no place yet, so another launcher may give one */
    nothing_is_called();
    begin(3);
    rte.node = &node;
    CHECK(rte_embed(0) == 0 && rte_embedded_is_there());
    nothing_is_called();
    CHECK(rte_embed(&table) == -1); /* its place stays the same */
    nothing_is_called();
    begin(3);
    CHECK(backend.put("a", self, 7) == 0 && puts_done == 1); /* a new owner */
}

static void nobody_ends(void)
{
    CHECK(rte_embed(0) == 0 && !rte_embedded_is_there() && !gone);
    rte.node = &node;
    CHECK(rte_embed(&table) == -1 && !rte_embedded_is_there());
    CHECK(rte_embed(0) == 0 && !rte_embedded_is_there());
}

int main(void)
{
    CHECK(!rte_embedded_is_there());
    nobody_ends();
    first_rank_names();
    other_ranks_learn();
    others_hear_nothing();
    hands_on();
    failures_are_told();
    owner_ends();
    return 0;
}
