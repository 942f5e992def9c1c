#include "output.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PROMPT_MS 100 /* after this time without news, an unfinished line of PE 0 may be a prompt */
#define STUCK_MS 1000 /* after this time without news, a long line no longer holds up the others */
#define CHUNK (64u << 10)

/* One pipe from one PE. Invariants: the first `lines` bytes of data[0..used) are complete lines that wait for the owner
 * of the outlet; parked means that the stream is out of the loop until the sink has room. */
struct stream {
    struct loop_watch watch;
    struct outlet *outlet;
    uint32_t pe;
    int fd; /* -1: none, or ended */
    bool parked, ended;
    char *data;
    size_t used, room, lines;
    int64_t heard;
};

/* One of oshrun's two outputs, where lines of many streams meet. */
struct outlet {
    struct sink sink;
    struct stream *owner;      /* the stream in the middle of a long line; the others wait */
    const struct stream *last; /* the stream that wrote last */
    bool midline;              /* that stream left a line unfinished */
};

static struct outlet outlets[2];
static struct stream *streams;
static size_t nstreams, unfinished;
static const char *file_name; /* of --output-filename; NULL: none */
static uint32_t npes;
static bool tagging, stamping, direct, joined, prompts;

static void stream_ready(struct loop_watch *watch);

static bool may_write(const struct stream *stream)
{
    return !stream->outlet->owner || stream->outlet->owner == stream;
}

/* Writes what stands in front of a line: the time here, to the millisecond, and the PE. Returns the bytes. */
static size_t write_mark(char *mark, size_t room, uint32_t pe)
{
    size_t used = 0;
    if (stamping) {
        struct timespec now;
        struct tm local;
        clock_gettime(CLOCK_REALTIME, &now);
        localtime_r(&now.tv_sec, &local);
        used = strftime(mark, room, "%Y-%m-%d %H:%M:%S", &local);
        used += (size_t)snprintf(mark + used, room - used, ".%03ld ", now.tv_nsec / 1000000);
    }
    if (tagging)
        used += (size_t)snprintf(mark + used, room - used, "[%u] ", pe);
    return used;
}

static void put_marked(struct outlet *outlet, const struct stream *stream, const char *data, size_t bytes)
{
    char mark[64];
    size_t mark_bytes = write_mark(mark, sizeof mark, stream->pe);
    while (bytes > 0) {
        const char *end = memchr(data, '\n', bytes);
        size_t line = end ? (size_t)(end - data) + 1 : bytes;
        if (!outlet->midline)
            sink_put(&outlet->sink, mark, mark_bytes);
        sink_put(&outlet->sink, data, line);
        outlet->midline = !end;
        data += line;
        bytes -= line;
    }
}

static void emit_bytes(const struct stream *stream, const char *data, size_t bytes)
{
    struct outlet *outlet = stream->outlet;
    if (bytes == 0)
        return;
    if (outlet->midline && outlet->last != stream) {
        sink_put(&outlet->sink, "\n", 1);
        outlet->midline = false;
    }
    if (tagging || stamping)
        put_marked(outlet, stream, data, bytes);
    else
        sink_put(&outlet->sink, data, bytes);
    outlet->midline = data[bytes - 1] != '\n';
    outlet->last = stream;
}

static void keep_data(struct stream *stream, const char *data, size_t bytes)
{
    if (stream->used + bytes > stream->room) {
        stream->room = (stream->used + bytes) * 2;
        stream->data = say_if_null(realloc(stream->data, stream->room));
    }
    memcpy(stream->data + stream->used, data, bytes);
    stream->used += bytes;
}

static void drop_data(struct stream *stream, size_t bytes)
{
    if (bytes == 0)
        return;
    memmove(stream->data, stream->data + bytes, stream->used - bytes);
    stream->used -= bytes;
    stream->lines -= bytes < stream->lines ? bytes : stream->lines;
}

static void unpark_stream(struct stream *stream)
{
    if (stream->parked)
        stream->parked = loop_add(stream->fd, EPOLLIN, &stream->watch) != 0;
}

static void pour_stream(struct stream *stream);

/* The long line is over or stuck. Lets all other streams go on. */
static void release_outlet(struct outlet *outlet)
{
    outlet->owner = NULL;
    for (size_t i = 0; i < nstreams && !outlet->owner; i++)
        if (streams[i].outlet == outlet)
            pour_stream(&streams[i]);
}

/* Sends as much of a stream's kept bytes as it may. */
static void pour_stream(struct stream *stream)
{
    struct outlet *outlet = stream->outlet;
    if (!may_write(stream))
        return;
    bool all = stream->ended || stream->used > OUTPUT_LINE;
    size_t bytes = all ? stream->used : stream->lines;
    emit_bytes(stream, stream->data, bytes);
    drop_data(stream, bytes);
    if (stream->ended && stream->data) {
        free(stream->data);
        stream->data = NULL;
        stream->room = 0;
    }
    unpark_stream(stream);
    if (!stream->ended && all && outlet->midline)
        outlet->owner = stream;
    else if (outlet->owner == stream && (stream->ended || bytes > 0))
        release_outlet(outlet);
}

static void take_data(struct stream *stream, const char *data, size_t bytes)
{
    const char *end = memrchr(data, '\n', bytes);
    size_t lines = end ? (size_t)(end - data) + 1 : 0;
    if (lines && stream->used == 0 && !stream->outlet->owner) { /* the usual case, without a copy */
        emit_bytes(stream, data, lines);
        data += lines;
        bytes -= lines;
        lines = 0;
    }
    if (lines)
        stream->lines = stream->used + lines;
    if (bytes > 0)
        keep_data(stream, data, bytes);
    pour_stream(stream);
}

static void finish_stream(struct stream *stream)
{
    loop_remove(stream->fd);
    close(stream->fd);
    stream->fd = -1;
    stream->ended = true;
    unfinished--;
    pour_stream(stream);
}

static void stream_ready(struct loop_watch *watch)
{
    static char chunk[CHUNK];
    struct stream *stream = (struct stream *)watch;
    if (stream->fd < 0 || stream->parked)
        return;
    if (sink_full(&stream->outlet->sink) || (!may_write(stream) && stream->used > OUTPUT_LINE)) {
        loop_remove(stream->fd);
        stream->parked = true;
        return;
    }
    ssize_t bytes = read(stream->fd, chunk, sizeof chunk);
    stream->heard = loop_now();
    if (bytes > 0)
        take_data(stream, chunk, (size_t)bytes);
    else if (bytes == 0 || (errno != EAGAIN && errno != EINTR))
        finish_stream(stream);
}

static void outlet_drained(struct sink *sink)
{
    struct outlet *outlet = (struct outlet *)sink;
    for (size_t i = 0; i < nstreams; i++)
        if (streams[i].outlet == outlet && may_write(&streams[i]))
            unpark_stream(&streams[i]);
}

static bool same_file(int one, int other)
{
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* True when a user or program may answer prompts: input is a terminal, or a pipe or socket to a program. */
static bool input_answers(void)
{
    struct stat info;
    return isatty(0) || (fstat(0, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)));
}

bool output_open(const struct options *options)
{
    npes = options->pes;
    tagging = options->tag;
    stamping = options->stamp;
    file_name = options->out_name;
    direct = npes == 1 && !tagging && !stamping;
    joined = same_file(1, 2);
    prompts = input_answers();
    for (int i = 0; i < 2; i++)
        sink_open(&outlets[i].sink, i + 1, outlet_drained);
    nstreams = (size_t)npes * output_files_per_pe();
    streams = say_if_null(calloc(nstreams + 1, sizeof *streams));
    return !file_name || files_make_folder(file_name);
}

unsigned output_files_per_pe(void)
{
    return direct || file_name ? 0 : joined ? 1 : 2;
}

/* Returns the writing end, or -1 with errno. */
static int open_stream(struct stream *stream, uint32_t pe, struct outlet *outlet)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    *stream = (struct stream){.watch.ready = stream_ready, .outlet = outlet, .pe = pe, .fd = ends[0]};
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 || loop_add(ends[0], EPOLLIN, &stream->watch) != 0) {
        int why = errno;
        close(ends[0]);
        close(ends[1]);
        stream->fd = -1;
        errno = why;
        return -1;
    }
    unfinished++;
    return ends[1];
}

bool output_connect(uint32_t pe, int *out, int *err)
{
    struct stream *stream = &streams[(size_t)pe * output_files_per_pe()];
    *out = 1;
    *err = 2;
    if (file_name)
        *err = *out = files_open(file_name, pe, npes);
    else if (!direct) {
        *err = *out = open_stream(stream, pe, &outlets[0]);
        if (*out >= 0 && !joined)
            *err = open_stream(stream + 1, pe, &outlets[1]);
    }
    return *err >= 0;
}

/* True for an unfinished line of PE 0. It goes out after a while, because it may be a prompt. */
static bool is_prompt(const struct stream *stream)
{
    return prompts && stream->pe == 0 && stream->outlet && stream->used > 0 && may_write(stream);
}

/* Releases an outlet when its owner is stuck. The owner is not stuck while it has more input for the supervisor, or while the
 * supervisor does not read it. */
static void check_stuck(struct outlet *outlet, int64_t now)
{
    struct stream *owner = outlet->owner;
    if (!owner || now - owner->heard < STUCK_MS)
        return;
    struct pollfd more = {.fd = owner->fd, .events = POLLIN};
    if (owner->parked || poll(&more, 1, 0) > 0)
        owner->heard = now;
    else
        release_outlet(outlet);
}

/* Returns the number of streams whose unfinished lines the clock watches: those of PE 0. */
static size_t watched_streams(void)
{
    return nstreams < output_files_per_pe() ? nstreams : output_files_per_pe();
}

void output_tick(void)
{
    int64_t now = loop_now();
    for (size_t i = 0; i < watched_streams(); i++)
        if (is_prompt(&streams[i]) && now - streams[i].heard >= PROMPT_MS) {
            emit_bytes(&streams[i], streams[i].data, streams[i].used);
            drop_data(&streams[i], streams[i].used);
        }
    for (int i = 0; i < 2; i++) {
        check_stuck(&outlets[i], now);
        sink_flush(&outlets[i].sink);
    }
}

static int patience_with(const struct stream *stream, int limit, int least)
{
    int64_t left = stream->heard + limit - loop_now();
    int wait = left > 0 ? (int)left : 0;
    return least < 0 || wait < least ? wait : least;
}

int output_patience(void)
{
    int wait = -1;
    for (size_t i = 0; i < watched_streams(); i++)
        if (is_prompt(&streams[i]))
            wait = patience_with(&streams[i], PROMPT_MS, wait);
    for (int i = 0; i < 2; i++)
        if (outlets[i].owner)
            wait = patience_with(outlets[i].owner, STUCK_MS, wait);
    return wait;
}

bool output_done(void)
{
    return unfinished == 0 && sink_empty(&outlets[0].sink) && sink_empty(&outlets[1].sink);
}

int output_broken(void)
{
    return outlets[0].sink.broken;
}

void output_message(const char *line, size_t bytes)
{
    struct outlet *outlet = &outlets[joined ? 0 : 1];
    if (outlet->midline)
        sink_put(&outlet->sink, "\n", 1);
    outlet->midline = false;
    sink_put(&outlet->sink, line, bytes);
    sink_flush(&outlet->sink);
}
