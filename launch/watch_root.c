#include "watch_root.h"

#include "base/clock.h"
#include "message.h"
#include "party.h"
#include "report.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SILENT_MS 2000 /* time for a node to say that it looks */
#define BUSY_MS 20000  /* and then to tell what it sees, with all nodes below it */
#define BEAT_MS 1000   /* time between lines by which a node knows that the one above it is not stopped */
#define SIGNAL_MS 1000 /* time in which signals count as one */
#define LOST_MS 3000   /* time in which a launcher ends a job that has lost a host */
#define ASKS 16
#define NOBODY (-1) /* id of a request whose channel has ended */
#define ABOVE (-2)  /* of one by the node above, which wants the picture */

struct ask {
    struct channel *by; /* null: this process, so the report goes to oshrun in front, or to standard error */
    int id, status, ms;
    bool stacks;
    char title[256];
};

static struct root own;
static struct parties all = {.count = 1};
static struct channel *front;
static struct ask asks[ASKS]; /* the first one is answered at the moment */
static size_t waiting;
static enum stuck told_stuck; /* what the node above has been told, and of how many nodes */
static uint32_t told_counted;
static bool looking, ended, expired;
static struct picture picture;
static struct deadlock deadlock;
static int64_t silent_at, busy_at, beat_at, signal_at, timeout_at, lost_at; /* 0: not set */
static uint32_t missed;      /* 1 + the PE that this node or one below it has missed first; 0: none */
static uint64_t stuck_since; /* nanoseconds; 0: some node is not */

/* ---- answers ---- */

static uint32_t pes_of_job(void)
{
    return own.view->node->total;
}

/* Sends the collected lines to who has asked: a channel, else oshrun in front, else where this process says all. */
static void deliver_lines(struct channel *to, int id, int status)
{
    char *text = say_collected(), *rest = NULL;
    to = to ? to : front && front->up ? front : NULL;
    if (!to && text)
        say_lines(text);
    for (char *line = strtok_r(text, "\n", &rest); to && line; line = strtok_r(NULL, "\n", &rest))
        channel_send(to, "text %d:%s\n", id, line);
    channel_send(to, "told %d %d\n", id, status);
    free(text);
}

void root_finish(int status)
{
    ended = true;
    char line[32];
    snprintf(line, sizeof line, "finish %d", status);
    party_send_all(&all, line);
    own.end(status);
}

/* ---- a report ---- */

static void ask_party(struct party *party)
{
    party->state = party->channel ? ASKED : QUIET;
    channel_send(party->channel, "look %d %d\n", asks[0].stacks, asks[0].ms - asks[0].ms / 4);
}

static void start_look(void)
{
    const struct ask *ask = &asks[0];
    looking = true;
    picture = picture_make(pes_of_job());
    for (uint32_t i = 1; i < all.count; i++)
        ask_party(&all.party[i]);
    picture_read(&picture, own.view, ask->stacks);
    silent_at = loop_now() + SILENT_MS;
    busy_at = loop_now() + ask->ms;
}

static void finish_look(void)
{
    const struct ask ask = asks[0];
    if (all.count > 1)
        party_add_silent(&all, !own.below, &picture);
    if (ask.id == ABOVE) {
        char *text = picture_write(&picture);
        channel_send(own.above, "%sseen\n", text);
        free(text);
    } else if (ask.id != NOBODY) {
        say_collect();
        if (*ask.title) /* else oshrun in front has written it */
            say("%s", ask.title);
        report_print(&picture);
        deliver_lines(ask.by, ask.id, ask.status);
    }
    picture_free(&picture);
    looking = false;
    memmove(asks, asks + 1, --waiting * sizeof *asks);
    if (ask.status >= 0 && !ended)
        root_finish(ask.status);
}

static void look_on(void)
{
    bool silent = false, busy = false;
    if (!looking && waiting)
        start_look();
    for (uint32_t i = 1; looking && i < all.count; i++) {
        silent |= all.party[i].channel && all.party[i].state == ASKED;
        busy |= all.party[i].channel && (all.party[i].state == ASKED || all.party[i].state == BUSY);
    }
    if (looking && (!busy || loop_now() >= busy_at || (silent && loop_now() >= silent_at && !(busy && !silent))))
        finish_look();
}

static void look_for_above(bool stacks, int ms)
{
    if (waiting == ASKS)
        return;
    asks[waiting++] = (struct ask){.id = ABOVE, .status = -1, .ms = ms, .stacks = stacks};
    channel_send(own.above, "busy\n");
}

void root_ask(struct channel *channel, int id, int status, const char *title)
{
    if (own.below) {
        relay_ask(own.above, channel, id, status, title);
        return;
    }
    if (waiting == ASKS || ended)
        return;
    asks[waiting] =
        (struct ask){.by = channel, .id = id, .status = status, .ms = BUSY_MS, .stacks = own.stacks && status >= 0};
    snprintf(asks[waiting++].title, sizeof asks->title, "%s", title);
}

/* The launcher passes the signal to all PEs, and their watchers tell of it one after the other. */
void root_note_signal(void)
{
    char title[64];
    if (loop_now() < signal_at)
        return;
    signal_at = loop_now() + SIGNAL_MS;
    channel_send(own.above, "signal\n");
    if (own.below)
        return;
    snprintf(title, sizeof title, "where the %u PEs are:", pes_of_job());
    root_ask(NULL, 0, -1, title);
}

bool root_is_busy(void)
{
    return looking || waiting || (own.below ? all.connected > 0 : death_is_kept());
}

/* ---- deaths ---- */

/* Tells of a node that is lost with this PE; -1: with any. */
static void tell_lost(int64_t pe)
{
    char *text;
    const struct party *lost = party_find_lost(&all, pe);
    if (!lost)
        return;
    if (asprintf(&text, "PE %s on host %s %s lost: all processes there were killed (signal 9?), or the host is down",
                 lost->pes, lost->host, strpbrk(lost->pes, ",-") ? "are" : "is") < 0)
        say_if_null(NULL);
    (void)death_note(SIGKILL, text);
    free(text);
}

void root_note_lost(uint32_t pe)
{
    if (!missed)
        channel_send(own.above, "lost %u\n", pe);
    missed = missed ? missed : pe + 1;
}

void root_note_death(int status, const char *text)
{
    const bool by_launcher = WIFSIGNALED(status) && (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGKILL);
    if (!ended && !own.below && by_launcher && lost_at && loop_now() < lost_at + LOST_MS)
        tell_lost(-1);
    if (!ended && death_note(status, text) && own.below)
        death_send(own.above);
}

void root_note_end(void)
{
    if (!ended)
        channel_send(own.above, "ends\n");
    ended = true;
    death_forget();
}

static void tell_death(char *text, int status)
{
    char *rest = NULL;
    say_collect();
    for (char *line = strtok_r(text, "\x1f", &rest), *first = line; line; line = strtok_r(NULL, "\x1f", &rest))
        line == first ? say("%s", line) : say_more("%s", line);
    free(text);
    deliver_lines(NULL, 0, status);
    root_finish(status);
}

/* ---- limits ---- */

static void note_stuck(uint32_t number, enum stuck stuck, uint32_t count)
{
    uint32_t counted;
    all.party[number].stuck = stuck;
    all.party[number].counted = count;
    const enum stuck now = party_judge(&all, &counted);
    stuck_since = now == STUCK_WAITS && counted == all.count ? stuck_since ? stuck_since : clock_nanoseconds() : 0;
    if (now == told_stuck && (now == STUCK_NOT || counted == told_counted))
        return;
    told_stuck = now;
    told_counted = counted;
    channel_send(own.above, "stuck %d %u\n", (int)now, counted);
}

void root_look(void)
{
    if (own.deadlock > 0 && !ended && deadlock_look(&deadlock, own.view))
        note_stuck(0, deadlock.stuck, 1);
}

static void check_limits(void)
{
    char title[256];
    const double seconds = stuck_since ? 1e-9 * (double)(clock_nanoseconds() - stuck_since) : 0;
    if (own.deadlock > 0 && seconds >= own.deadlock && !waiting && !own.below) {
        snprintf(title, sizeof title, "deadlock for %.1f s (%s): no PE will ever go on; where the PEs are:", seconds,
                 own.deadlock_name);
        root_ask(NULL, 0, STATUS_FAILED, title);
    }
    if (timeout_at && loop_now() >= timeout_at && !expired) {
        expired = true;
        snprintf(title, sizeof title, "time limit of %g s reached (%s); where the PEs are:", own.timeout,
                 own.timeout_name);
        root_ask(NULL, 0, STATUS_TIMEOUT, title);
    }
}

static void send_beat(void)
{
    beat_at = loop_now() + BEAT_MS;
    party_send_all(&all, "alive");
}

void root_tick(void)
{
    int status;
    char *death;
    if (!ended)
        check_limits();
    if (!ended && !own.below && missed)
        tell_lost((int64_t)missed - 1);
    const bool dials = front && !front->up;
    if (!own.below && !dials && (death = death_take(&status)))
        tell_death(death, status);
    if (own.below && loop_now() >= beat_at)
        send_beat();
    look_on();
}

int64_t root_next(void)
{
    const int64_t time = ended || expired ? 0 : timeout_at;
    return own.deadlock > 0 && !ended && (!time || deadlock.next < time) ? deadlock.next : time;
}

int64_t root_time_limit(void)
{
    return timeout_at;
}

static void start_limit(void)
{
    timeout_at = own.timeout > 0 ? loop_now() + (int64_t)(own.timeout * 1000) + 1 : 0;
}

void root_start(const struct root *root)
{
    own = *root;
    all.party = say_if_null(calloc(1, sizeof *all.party));
    start_limit();
}

/* ---- what other watchers say ---- */

/* A node below has lost another one, which the root remembers: that is silent, or it comes to the root. */
static void note_gone(char *line)
{
    uint32_t number;
    int used = 0;
    if (own.below)
        channel_send(own.above, "%s\n", line);
    else if (sscanf(line, "gone %u %n", &number, &used) == 1 && used && number < all.count) {
        party_introduce(&all.party[number], line + used);
        lost_at = loop_now();
    }
}

static void hear_ask(struct channel *channel, const char *line)
{
    int id, status, used = 0;
    if (sscanf(line, "ask %d %d %n", &id, &status, &used) == 2 && used)
        root_ask(channel, id, status, line + used);
}

static void hear_party(struct channel *channel, char *line)
{
    struct party *party = &all.party[channel->peer];
    int number = 0, used = 0;
    unsigned count = 1;
    if (strncmp(line, "node ", 5) == 0)
        party_introduce(party, line + 5);
    else if (strncmp(line, "gone ", 5) == 0)
        note_gone(line);
    else if (strcmp(line, "bye") == 0)
        party->left = true;
    else if (strcmp(line, "busy") == 0 && party->state == ASKED)
        party->state = BUSY;
    else if ((strncmp(line, "group ", 6) == 0 || strncmp(line, "stack ", 6) == 0) && looking && party->state == BUSY)
        (void)picture_add_line(&picture, line);
    else if (strcmp(line, "seen") == 0 && party->state == BUSY)
        party->state = SEEN;
    else if (sscanf(line, "stuck %d %u", &number, &count) >= 1 && number >= STUCK_NOT && number <= STUCK_IDLE)
        note_stuck((uint32_t)channel->peer, (enum stuck)number, count);
    else if (sscanf(line, "dead %d %n", &number, &used) == 1 && used)
        root_note_death(number, line + used);
    else if (sscanf(line, "lost %u", &count) == 1)
        root_note_lost(count);
    else if (strcmp(line, "ends") == 0)
        root_note_end();
    else if (strcmp(line, "signal") == 0)
        root_note_signal();
    else
        hear_ask(channel, line);
}

/* Requests of a channel that has ended are answered to nobody. */
void root_forget(struct channel *channel)
{
    size_t kept = looking ? 1 : 0;
    if (looking && asks[0].by == channel)
        asks[0] = (struct ask){.id = NOBODY, .status = asks[0].status};
    for (size_t i = kept; i < waiting; i++)
        if (asks[i].by != channel)
            asks[kept++] = asks[i];
    waiting = waiting ? kept : 0;
    relay_forget(channel);
}

static void lose_party(struct channel *channel)
{
    struct party *party = &all.party[channel->peer];
    root_forget(channel);
    if (party->channel != channel)
        return;
    party->channel = NULL;
    all.connected--;
    note_stuck((uint32_t)channel->peer, STUCK_NOT, 0);
    if (!party->pes || party->left)
        return;
    lost_at = loop_now();
    if (!own.below)
        return;
    channel_send(own.above, "gone %d %s\t%s\n", channel->peer, party->host, party->pes);
    free(party->pes);
    party->pes = NULL;
}

static void accept_party(struct channel *channel)
{
    channel->heard = hear_party;
    channel->closed = lose_party;
    if (channel->peer == 0 || (uint32_t)channel->peer >= all.count || all.party[channel->peer].channel) {
        channel->closed = NULL;
        channel_close(channel);
        return;
    }
    all.party[channel->peer].channel = channel;
    all.party[channel->peer].left = false;
    all.connected++;
    if (channel->peer == 1 && !own.below)
        party_introduce_own(channel, own.view->node);
    if (looking)
        ask_party(&all.party[channel->peer]);
}

/* A watcher may connect before this one has been told of the nodes; there are no more than PEs. */
struct routes root_listen(void)
{
    struct routes routes;
    all.count = pes_of_job();
    free(all.party);
    all.party = say_if_null(calloc(all.count, sizeof *all.party));
    channels_listen(own.view->node->nonce, 0, all.count, accept_party, &routes);
    return routes;
}

/* ---- oshrun in front ---- */

static void hear_front(struct channel *channel, char *line)
{
    if (line && strcmp(line, "stacks") == 0)
        own.stacks = true;
    else if (line)
        hear_ask(channel, line);
}

static void lose_front(struct channel *channel)
{
    root_forget(channel);
    front = NULL;
}

void root_set_above(struct channel *above)
{
    own.above = above;
    if (above)
        party_introduce_own(above, own.view->node);
    if (told_stuck != STUCK_NOT)
        channel_send(above, "stuck %d %u\n", (int)told_stuck, told_counted);
    if (missed)
        channel_send(above, "lost %u\n", missed - 1);
    if (ended)
        channel_send(above, "ends\n");
    death_send(above);
}

void root_hear_above(char *line)
{
    int number, ms;
    if (sscanf(line, "look %d %d", &number, &ms) == 2)
        look_for_above(number, ms);
    else if (sscanf(line, "finish %d", &number) == 1)
        root_finish(number & 255);
    else if (strncmp(line, "node ", 5) == 0)
        party_introduce(&all.party[0], line + 5);
    else if (strcmp(line, "bye") == 0)
        all.party[0].left = true;
    else
        relay_answer(line);
}

static void dial_front(const char *place)
{
    uint64_t key[2];
    struct routes routes;
    if (!channel_read_place(place, key, &routes))
        return;
    front = channel_dial(key, 0, 0, &routes);
    front->heard = hear_front;
    front->closed = lose_front;
}

void root_join(uint32_t nodes, uint32_t number, const char *place)
{
    all.count = nodes;
    own.below = number != 0;
    channels_expect(own.view->node->nonce, number);
    if (own.below)
        return;
    start_limit();
    dial_front(place);
}

void root_inherit(const char *place)
{
    if (ended || !own.below || !all.party[0].pes || all.party[0].left)
        return;
    own.below = false;
    lost_at = loop_now();
    dial_front(place);
}

void root_leave(void)
{
    channel_send(own.above, "bye\n");
    channel_send(front, "bye\n");
    party_send_all(&all, "bye");
}
