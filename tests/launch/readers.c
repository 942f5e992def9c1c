/* Readers of the PEs' output that are slow or gone, and PEs that read copies of standard input. Each test has a
 * process of its own, in which this program is the PEs and the reader.
 * flags: -D_GNU_SOURCE */
#include "flow.h"

static int read_fails; /* the errno of the next one */

static ssize_t read_input(int fd, void *data, size_t bytes)
{
    if (!read_fails)
        return read(fd, data, bytes);
    errno = read_fails;
    read_fails = 0;
    return -1;
}

#define read read_input
#include "input.c"
#undef read

/* ---- slow readers, and none ---- */

static void slow_reader(void)
{
    static char part[1 << 16];
    size_t written = 0, arrived = 0;
    job(2);
    memset(part, 'p', sizeof part);
    for (size_t i = 63; i < sizeof part; i += 64)
        part[i] = '\n';
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    for (int quiet = 0; quiet < 8;) {
        const ssize_t wrote = write(out[0], part, sizeof part);
        written += wrote > 0 ? (size_t)wrote : 0;
        quiet = wrote > 0 ? 0 : quiet + 1;
        turn();
        CHECK(written < MUCH / 2); /* the guard holds little of what nobody reads */
    }
    CHECK(written >= FULL && streams[0].parked && sink_full(&lanes[0].sink) && lanes[0].sink.armed);
    says(out[1], "other\n");
    ends(&out[0]);
    for (int quiet = 0; quiet < 8; quiet++) {
        read_all(readers[0]);
        for (const char *at = come; (at = strstr(at, "other\n")); at += 6)
            arrived -= 6;
        arrived += strlen(come);
        quiet = *come ? 0 : quiet;
        turn();
    }
    CHECK(arrived == written && !lanes[0].sink.armed && sink_empty(&lanes[0].sink));
    CHECK(!streams[0].parked && streams[0].fd == -1 && !streams[2].parked);
    says(out[1], "goes on\n");
    OUT("goes on\n");
}

/* A lane that has room again takes all its streams back, and no others. */
static void room_again(void)
{
    job(2);
    for (size_t i = 0; i < 4; i++) {
        loop_remove(streams[i].fd);
        streams[i].parked = true;
    }
    lane_drained(&lanes[0].sink);
    for (size_t i = 0; i < 4; i++)
        CHECK(streams[i].parked == (streams[i].lane != &lanes[0]));
    lane_drained(&lanes[1].sink);
    for (size_t i = 0; i < 4; i++)
        CHECK(!streams[i].parked);
    says(out[0], "a\n");
    OUT("a\n");
}

/* What the sink holds while its reader takes a little at a time comes out whole. */
static void pieces(void)
{
    size_t next = 0;
    uint64_t seed = 1;
    make_pipes(false);
    CHECK(fcntl(1, F_SETPIPE_SZ, 4096) == 4096 && loop_open() == 0);
    sink_open(&lanes[0].sink, 1, lane_drained);
    for (size_t put = 0; put < 200000;) {
        char piece[700];
        const size_t bytes = next_random(&seed) % sizeof piece;
        for (size_t i = 0; i < bytes; i++)
            piece[i] = (char)('a' + put++ % 23);
        sink_put(&lanes[0].sink, piece, bytes);
        if (next_random(&seed) % 4 == 0)
            sink_flush(&lanes[0].sink);
        const ssize_t got = read(readers[0], come, next_random(&seed) % 900);
        for (ssize_t i = 0; i < got; i++)
            CHECK(come[i] == (char)('a' + next++ % 23));
    }
    for (int quiet = 0; quiet < 3; quiet = *come ? 0 : quiet + 1) {
        loop_turn(0);
        for (const char *at = read_all(readers[0]); *at; at++)
            CHECK(*at == (char)('a' + next++ % 23));
    }
    CHECK(sink_empty(&lanes[0].sink) && next >= 200000);
}

static void writes_soon(void)
{
    static char block[WRITE_SOON];
    make_pipes(false);
    memset(block, 'b', sizeof block);
    CHECK(fcntl(1, F_SETPIPE_SZ, 1 << 20) >= 1 << 20 && loop_open() == 0);
    sink_open(&lanes[0].sink, 1, lane_drained);
    sink_put(&lanes[0].sink, block, sizeof block);
    OUT("");
    sink_put(&lanes[0].sink, "!", 1); /* more is not held until the end of the turn */
    CHECK(strlen(read_all(readers[0])) == WRITE_SOON + 1);
}

/* A socket is the shell's: it stays as it is, and is asked before each write. */
static void socket_reader(void)
{
    int ends[2];
    size_t arrived = 0;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && dup2(ends[0], 1) == 1);
    readers[0] = fcntl(ends[1], F_DUPFD, READERS);
    fcntl(readers[0], F_SETFL, O_NONBLOCK);
    how.pes = 2;
    open_job();
    CHECK(lanes[0].sink.cautious && lanes[0].sink.fd == 1 && !(fcntl(1, F_GETFL) & O_NONBLOCK));
    for (int i = 0; i < 600; i++) {
        char line[1001];
        memset(line, 's', 1000);
        line[999] = '\n';
        line[1000] = 0;
        fcntl(out[0], F_SETFL, O_NONBLOCK);
        if (write(out[0], line, 1000) < 0)
            break;
        turn();
    }
    CHECK(lanes[0].sink.armed && !sink_empty(&lanes[0].sink));
    for (int quiet = 0; quiet < 5; quiet = *come ? 0 : quiet + 1) {
        arrived += strlen(read_all(readers[0]));
        turn();
    }
    CHECK(arrived % 1000 == 0 && arrived > PIPE_BUF && sink_empty(&lanes[0].sink));
}

static void reader_goes(void)
{
    job(2);
    says(out[0], "a\n");
    CHECK(output_broken() == 0);
    close(readers[0]);
    says(out[0], "b\n");
    CHECK(output_broken() == EPIPE && lanes[1].sink.broken == 0 && sink_empty(&lanes[0].sink));
    says(out[0], "c\n");
    CHECK(sink_empty(&lanes[0].sink));
    says(err[0], "e\n");
    ERR("e\n");
    for (int i = 0; i < 2; i++)
        ends(&out[i]), ends(&err[i]);
    CHECK(output_done());
}

/* Any number is good for the loop, and for the pipe that is opened once more. */
static void lowest_number(void)
{
    make_pipes(false);
    close(0);
    how.pes = 2;
    CHECK(loop_open() == 0 && epoll == 0);
    epoll = fcntl(epoll, F_DUPFD_CLOEXEC, READERS);
    close(0);
    CHECK(output_open(&how) && lanes[0].sink.fd == 0 && !lanes[0].sink.cautious);
}

static void regular_file(void)
{
    const int file = memfd_create("out", 0);
    CHECK(dup2(file, 1) == 1);
    how.pes = 2;
    open_job();
    CHECK(lanes[0].sink.fd == 1 && !lanes[0].sink.cautious);
    says(out[0], "a\n");
    CHECK(pread(file, come, 10, 0) == 2 && memcmp(come, "a\n", 2) == 0);
}

/* ---- copies of standard input ---- */

static int in[PES], input_end; /* the other end of standard input */

/* A job whose PEs all read copies of a pipe. */
static void copy_input(uint32_t pes)
{
    int pair[2];
    CHECK(pipe(pair) == 0 && dup2(pair[0], 0) == 0);
    close(pair[0]);
    input_end = pair[1];
    how.pes = pes;
    how.input = OPTIONS_INPUT_ALL;
    CHECK(loop_open() == 0 && input_open(&how) && input_files_per_pe() == 1);
    for (uint32_t pe = 0; pe < pes; pe++) {
        const int mine = input_connect(pe);
        CHECK(mine > 2 && fcntl(mine, F_GETFD) == FD_CLOEXEC);
        in[pe] = fcntl(mine, F_DUPFD, READERS);
        fcntl(in[pe], F_SETFL, O_NONBLOCK);
        input_connected(mine);
        CHECK(fcntl(mine, F_GETFD) == -1); /* the PE alone has it */
    }
}

/* Returns whether the PE has come to the end. */
static bool at_end(uint32_t pe)
{
    char byte;
    return read(in[pe], &byte, 1) == 0;
}

static void copies_for_all(void)
{
    copy_input(3);
    CHECK(write(input_end, "hello", 5) == 5);
    loop_turn(0);
    for (uint32_t pe = 0; pe < 3; pe++)
        reads(in[pe], "hello");
    CHECK(write(input_end, "\nmore", 5) == 5);
    loop_turn(0);
    close(in[1]); /* one reads no more */
    CHECK(write(input_end, "!", 1) == 1);
    loop_turn(0);
    CHECK(copies[1].fd == -1);
    reads(in[0], "\nmore!");
    read_fails = EAGAIN; /* another reader was faster */
    CHECK(write(input_end, "x", 1) == 1);
    loop_turn(0);
    read_fails = EINTR;
    loop_turn(0);
    CHECK(!at_end(0) && !ended);
    loop_turn(0);
    reads(in[0], "x");
    close(input_end);
    errno = EAGAIN; /* of an earlier call */
    source_ready(&source);
    CHECK(at_end(0));
    reads(in[2], "\nmore!x");
    CHECK(at_end(2));
    struct epoll_event event;
    CHECK(epoll_wait(epoll, &event, 1, 0) == 0); /* nobody asks for more */
    source_ready(&source);
    copy_ready(&copies[0].watch);
    CHECK(epoll_wait(epoll, &event, 1, 0) == 0);
}

static void input_that_fails(void)
{
    copy_input(2);
    CHECK(write(input_end, "x", 1) == 1);
    read_fails = EIO;
    loop_turn(0);
    CHECK(at_end(0) && at_end(1));
}

/* The slowest PE sets the pace, and gets all. */
static void slow_copy(void)
{
    static char block[4096];
    size_t given = 0, fast = 0, slow = 0;
    copy_input(2);
    fcntl(input_end, F_SETFL, O_NONBLOCK);
    for (int quiet = 0; quiet < 4;) {
        for (size_t i = 0; i < sizeof block; i++)
            block[i] = (char)('a' + (given + i) % 23);
        const ssize_t wrote = write(input_end, block, sizeof block);
        given += wrote > 0 ? (size_t)wrote : 0;
        quiet = wrote > 0 ? 0 : quiet + 1;
        loop_turn(0);
        fast += strlen(read_all(in[0]));
        CHECK(given < 1 << 20);
    }
    struct epoll_event event;
    CHECK(fast < given && copies[1].waiting && !copies[0].waiting && epoll_wait(epoll, &event, 1, 0) == 0);
    close(input_end);
    for (int quiet = 0; quiet < 4; quiet++) {
        loop_turn(0);
        fast += strlen(read_all(in[0]));
        const ssize_t got = read(in[1], come, 5000); /* so its pipe takes a part */
        for (ssize_t i = 0; i < got; i++, quiet = 0)
            CHECK(come[i] == (char)('a' + slow++ % 23));
    }
    CHECK(fast == given && slow == given && at_end(0) && at_end(1));
}

/* A PE that waits for room in its pipe, and goes. */
static void copy_that_goes(void)
{
    static char block[1 << 16];
    copy_input(2);
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 2; i++) {
        CHECK(write(input_end, block, sizeof block) == sizeof block);
        loop_turn(0);
        read_all(in[0]);
    }
    loop_turn(0);
    CHECK(copies[1].waiting);
    close(in[1]);
    loop_turn(0);
    CHECK(!copies[1].waiting && copies[1].fd == -1);
    read_all(in[0]);
    CHECK(write(input_end, "y", 1) == 1);
    for (int i = 0; i < 4; i++)
        loop_turn(0);
    CHECK(strstr(read_all(in[0]), "y"));
}

/* A device without an end that anybody could wait for. */
static void device_input(void)
{
    const int device = open("/dev/null", O_RDONLY);
    CHECK(dup2(device, 0) == 0);
    how.pes = 2;
    how.input = OPTIONS_INPUT_ALL;
    CHECK(loop_open() == 0 && input_open(&how));
    for (uint32_t pe = 0; pe < 2; pe++) {
        in[pe] = input_connect(pe);
        const int given = dup(in[pe]);
        input_connected(in[pe]);
        in[pe] = given;
        CHECK(pe == 1 || fcntl(in[0], F_SETFL, O_NONBLOCK) == 0);
    }
    CHECK(at_end(0) && at_end(1));
}

/* A file is opened once more for each PE, at the place where oshrun has it. */
static void file_input(void)
{
    const int file = memfd_create("in", 0);
    CHECK(write(file, "0123456789", 10) == 10 && dup2(file, 0) == 0 && lseek(0, 3, SEEK_SET) == 3);
    how.pes = 2;
    how.input = OPTIONS_INPUT_ALL;
    CHECK(loop_open() == 0 && input_open(&how) && input_files_per_pe() == 0);
    const int first = input_connect(0), second = input_connect(1);
    reads(first, "3456789");
    reads(second, "3456789");
    CHECK(lseek(0, 0, SEEK_CUR) == 3);
    input_connected(first);
    CHECK(fcntl(first, F_GETFD) == -1 && fcntl(0, F_GETFD) >= 0);
}

/* Without copies one PE at most has standard input itself. */
static void own_input(void)
{
    int pair[2];
    CHECK(pipe(pair) == 0 && dup2(pair[0], 0) == 0);
    how.pes = 3;
    how.input = 1;
    CHECK(input_open(&how) && input_files_per_pe() == 0);
    const int nothing = input_connect(0);
    CHECK(nothing > 2 && input_connect(1) == 0 && input_connect(2) == nothing && read(nothing, come, 1) == 0);
    input_connected(nothing);
    input_connected(0);
    CHECK(fcntl(nothing, F_GETFD) == FD_CLOEXEC && fcntl(0, F_GETFD) == 0);
    how.input = OPTIONS_INPUT_NONE;
    CHECK(input_open(&how) && input_connect(0) > 2 && input_connect(1) == input_connect(0));
}

int main(void)
{
    static void (*const tests[])(void) = {room_again,  slow_reader,    pieces,       writes_soon,    socket_reader,
                                          reader_goes, lowest_number,  regular_file, copies_for_all, input_that_fails,
                                          slow_copy,   copy_that_goes, device_input, file_input,     own_input};
    run_apart(tests, sizeof tests / sizeof *tests);
    return 0;
}
