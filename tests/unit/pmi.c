/* A launcher that speaks PMI-1, as this library asks it: the greeting by both ways, values in pieces, barriers and
 * their time limit, the end. This program is the launcher, too; its clock is a stand-in. */
#include "pmi_launcher.h"

#define nanosleep(time, rest) (void)(time)
#define clock_gettime clock_of_fence
#define log_line keep_line
#define poll look
#define wire_encode(text, data, bytes) (CHECK(sizeof(text) > WIRE_TEXT(bytes)), wire_encode(text, data, bytes))
#include "rte/pmi.c"
#undef poll
#undef wire_encode
#undef clock_gettime
#include "rte/pmi_call.c"
#include "rte/wire.c"

/* ---- the beginning ---- */

static void test_is_there(void)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    set_variables(-1, 0, 0);
    unsetenv("PMI_PORT");
    unsetenv("PMI_ID");
    CHECK(!rte_pmi_is_there() && !rte_pmi_is_open());
    setenv("PMI_ID", "id7", 1);
    CHECK(!rte_pmi_is_there());
    setenv("PMI_PORT", "h:1", 1);
    CHECK(rte_pmi_is_there() && !rte_pmi_is_open());
    unsetenv("PMI_ID");
    CHECK(!rte_pmi_is_there());
    unsetenv("PMI_PORT");
    set_variables(ends[0], 0, 0);
    CHECK(rte_pmi_is_there() && !rte_pmi_is_open()); /* a pipe is no connection */
    close(ends[0]);
    close(ends[1]);
    CHECK(!rte_pmi_is_open() && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    set_variables(ends[0], 0, 0);
    CHECK(rte_pmi_is_open());
    close(ends[0]);
    close(ends[1]);
}

static void refuses(const char *rank, const char *size, const char *why)
{
    char line[600];
    struct rte_place place;
    errno = 0;
    CHECK(!opens(rank, size, &place) && !pmi_talk.open);
    snprintf(line, sizeof line,
             "the launcher speaks PMI (PMI_FD, PMI_PORT) but cannot be reached: %s; "
             "start the program with oshrun, or unset these variables",
             why);
    if (strcmp(logged, line) != 0)
        fprintf(stderr, "logged: %s\n", logged);
    CHECK(strcmp(logged, line) == 0);
    pthread_join(server, 0);
}

static void test_greeting(void)
{
    const char *odd = "it did not answer as it should";
    struct rte_place place;
    const struct rte_backend *found = opens("2", "3", &place);
    CHECK(found && place.pe == 2 && place.npes == 3 && strcmp(place.job, "space_1") == 0 && pmi_talk.open && !*logged);
    CHECK(fcntl(pmi_talk.fd, F_GETFD) == FD_CLOEXEC && found->descriptor() == pmi_talk.fd);
    closes();
    CHECK(opens("0", "1", &place) && place.pe == 0);
    closes();
    refuses("3", "3", odd);
    refuses("-1", "3", odd);
    refuses(0, "3", odd);
    refuses("1", 0, odd);
    greeting = "cmd=response_to_init rc=-1\n";
    refuses("1", "2", odd);
    greeting = "cmd=what\n";
    refuses("1", "2", "the launcher (PMI) answered 'cmd=what' where response_to_init was due");
    mpi_started = 1; /* it has greeted, and the launcher takes one greeting */
    CHECK(opens("1", "2", &place));
    closes();
    mpi_started = 0;
    greeting = "cmd=response_to_init rc=0\n";
}

/* ---- values ---- */

static void test_value(size_t bytes)
{
    static char sent[5000];
    struct rte_place place;
    void *value = 0;
    size_t got = 99;
    for (size_t i = 0; i < bytes; i++)
        sent[i] = (char)(i * 7 + i / 256);
    const struct rte_backend *found = opens("1", "3", &place);
    CHECK(found && found->put("key", sent, bytes) == 0);
    CHECK(nvalues == (bytes ? (bytes + 479) / 480 : 1) && strcmp(values[0].key, "Lkey.1.0") == 0);
    CHECK(found->get(1, "key", &value, &got) == 0 && got == bytes && memcmp(value, sent, bytes) == 0);
    CHECK(gets == nvalues && longest <= 5 + WIRE_TEXT(480));
    free(value);
    for (size_t i = 0; i < nvalues; i++)
        values[i].key[5] = '2'; /* another PE's */
    CHECK(found->get(2, "key", &value, &got) == 0 && got == bytes && memcmp(value, sent, bytes) == 0 && !*logged);
    free(value);
    closes();
}

/* Values that nobody can have put so: the first and the second piece. */
static void bad_value(const char *first, const char *second, size_t wanted_gets)
{
    struct rte_place place;
    void *value;
    size_t bytes;
    int saved = dup(2), null = open("/dev/null", O_WRONLY);
    const struct rte_backend *found = opens("1", "3", &place);
    strcpy(value_of("Lk.0.0")->value, first);
    strcpy(value_of("Lk.0.1")->value, second);
    dup2(null, 2);
    const int status = found->get(0, "k", &value, &bytes);
    dup2(saved, 2);
    close(saved);
    close(null);
    if (gets != wanted_gets)
        fprintf(stderr, "%s %s: %zu requests\n", first, second, gets);
    CHECK(status == -1 && pmi_talk.broken && gets == wanted_gets);
    closes();
}

static void test_bad_values(void)
{
    char longer[700] = "483.";
    memset(longer + 4, 'A', 644);
    bad_value("", "", 1);
    bad_value("3.", "3.QUJD", 1);
    bad_value("3.QUJ", "", 2); /* two bytes of three, and no more */
    bad_value("3.QUJ", "4.QQ", 2);
    bad_value("3.QUJ", "3.QUJD", 2);
    bad_value("3.QUJ", "3.", 2);
    bad_value("2.QUJD", "2.", 1);
    bad_value("3QUJD", "3", 1);
    bad_value("x.QUJD", "3", 1);
    bad_value("3.Q", "3", 1);
    bad_value("67108865.QUJD", "", 1); /* nobody has so much to say */
    bad_value(longer, "", 1);
}

static void test_refused_value(void)
{
    struct rte_place place;
    const struct rte_backend *found = opens("1", "3", &place);
    const int saved = dup(2), null = open("/dev/null", O_WRONLY);
    char big[1000] = "";
    dup2(null, 2);
    CHECK(found->put("refused", big, sizeof big) == -1 && pmi_talk.broken && nvalues == 1);
    dup2(saved, 2);
    close(saved);
    close(null);
    closes();
}

/* ---- barriers ---- */

static void ends_it(void)
{
    if (looks == 10)
        CHECK(write(far_end, "cmd=barrier_out rc=0\n", 21) == 21);
}

/* Another thread has read the end of the barrier in place of its answer. */
static void hears_it_elsewhere(void)
{
    pmi_talk.out = looks == 3;
}

static void refuses_it(void)
{
    if (looks == 2)
        CHECK(write(far_end, "cmd=barrier_out rc=-1\n", 22) == 22);
}

static void barrier(const struct rte_backend *found, int seconds, void (*meanwhile)(void), int wanted, int wanted_looks)
{
    looks = 0;
    each_look = meanwhile;
    seconds_now = 100;
    CHECK(pthread_mutex_lock(&lock) == 0);
    const int status = found->fence(seconds, &lock);
    if (status != wanted || looks != wanted_looks)
        fprintf(stderr, "barrier: %d after %d looks\n", status, looks);
    CHECK(status == wanted && looks == wanted_looks && pthread_mutex_trylock(&lock) == EBUSY);
    pthread_mutex_unlock(&lock);
}

static void test_barriers(void)
{
    struct rte_place place;
    const struct rte_backend *found = opens("1", "3", &place);
    barrier(found, 0, ends_it, 0, 10);
    barrier(found, 0, hears_it_elsewhere, 0, 3);
    barrier(found, 2, hears_it_elsewhere, 0, 3);
    barrier(found, 7, ends_it, 0, 10);
    barrier(found, 2, 0, 1, 5); /* at 103 more than two seconds have gone by */
    barrier(found, 0, refuses_it, -1, 2);
    CHECK(!pmi_talk.broken && found->put("key", "", 0) == 0 && barriers == 6);
    pmi_talk.broken = true;
    barrier(found, 0, 0, -1, 0);
    closes();
}

/* ---- the end ---- */

static void test_end(void)
{
    struct rte_place place;
    const struct rte_backend *found = opens("1", "3", &place);
    const int fd = pmi_talk.fd, other = socket(AF_UNIX, SOCK_STREAM, 0), kept = dup(fd);
    CHECK(found->abort(7) == 0);
    dup2(other, fd); /* an MPI has closed it, and the number is somebody else's */
    CHECK(found->abort(8) == -1 && found->descriptor() == -1);
    found->finish();
    CHECK(fcntl(fd, F_GETFD) >= 0 && pmi_talk.fd == fd);
    dup2(kept, fd);
    found->finish();
    CHECK(pmi_talk.fd == -1 && fcntl(fd, F_GETFD) == -1 && found->descriptor() == -1 && found->abort(9) == -1);
    close(kept);
    close(other);
    pthread_join(server, 0);
    CHECK(strcmp(last_line, "cmd=finalize") == 0 && !pmi_talk.broken);
    found = opens("1", "3", &place);
    CHECK(found->abort(3) == 0);
    closes();
    CHECK(strcmp(last_line, "cmd=abort exitcode=3") == 0);
}

/* ---- a launcher that is called ---- */

static int listens(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, bytes) == 0 && listen(fd, 8) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&address, &bytes) == 0);
    *port = ntohs(address.sin_port);
    return fd;
}

/* Returns whether a call to this host, at the port, comes through. */
static bool calls(int door, const char *host, int port)
{
    char text[600];
    snprintf(text, sizeof text, "%s:%d", host, port);
    const int fd = pmi_call(text);
    if (fd < 0)
        return false;
    const int come = accept(door, 0, 0);
    CHECK(come >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    close(come);
    close(fd);
    return true;
}

static void test_calls(void)
{
    char host[300];
    int port;
    const int next = dup(0);
    close(next);
    const int door = listens(&port);
    CHECK(calls(door, "127.0.0.1", port) && calls(door, "localhost", port));
    memset(host, '0', sizeof host); /* an octal number may have many zeros */
    strcpy(host + 255 - 9, "177.0.0.1");
    CHECK(calls(door, host, port));
    strcat(host, "x");
    CHECK(!calls(door, host, port) && !calls(door, "", port) && !calls(door, "no such host", port));
    CHECK(pmi_call("127.0.0.1") == -1 && pmi_call("") == -1);
    close(door);
    CHECK(pmi_call("127.0.0.1:1") == -1);
    CHECK(dup(0) == next && close(next) == 0); /* nothing is left open */
}

static int door_of_launcher;

static void *answer_call(void *unused)
{
    const int fd = accept(door_of_launcher, 0, 0);
    CHECK(fd >= 0);
    return serve((void *)(intptr_t)(unused ? 0 : fd));
}

static void test_called_launcher(void)
{
    char text[40];
    int port;
    struct rte_place place;
    door_of_launcher = listens(&port);
    snprintf(text, sizeof text, "127.0.0.1:%d", port);
    set_variables(-1, 0, 0);
    setenv("PMI_PORT", text, 1);
    setenv("PMI_ID", "id7", 1);
    pmi_talk = (struct pmi_talk){.fd = -1};
    CHECK(pthread_create(&server, 0, answer_call, 0) == 0);
    const struct rte_backend *found = rte_pmi_open(&place);
    CHECK(found && place.pe == 4 && place.npes == 5 && strcmp(place.job, space) == 0);
    closes();
    close(door_of_launcher);
    pmi_talk = (struct pmi_talk){.fd = -1};
    CHECK(!rte_pmi_open(&place) && strstr(logged, "Connection refused"));
    unsetenv("PMI_PORT");
    unsetenv("PMI_ID");
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 2, 3, 479, 480, 481, 960, 961, 4999};
    alarm(50);
    signal(SIGPIPE, SIG_IGN);
    test_is_there();
    test_greeting();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        test_value(sizes[i]);
    test_bad_values();
    test_refused_value();
    test_barriers();
    test_end();
    test_calls();
    test_called_launcher();
    return 0;
}
