/* Messages with a gather list arrive as one payload, whatever the lengths of the parts: none, empty ones, many, around the limits of
 * the forms of a message; the program may change the parts at once. What is wrong is refused.
 * pes: 2
 */
#include "check.h"

enum { TAKE = 3, PARTS = 9, MOST = 40000 };

static uccs_context_t context;
static uccs_endpoint_t other;
static long taken;

static unsigned char byte_of(size_t total, size_t at)
{
    return (unsigned char)((total * 31 + at) * 2654435761u >> 24);
}

static void take(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    const unsigned char *bytes = payload;
    size_t wrong = 0;
    (void)token, (void)argument;
    for (size_t i = 0; i < length; i++)
        wrong += bytes[i] != byte_of(length, i);
    CHECK_EQ(wrong, 0);
    taken += (long)length + 1;
}

static void send_parts(const size_t *lengths, size_t n, const struct uccs_op *op)
{
    static unsigned char bytes[MOST];
    struct uccs_payload parts[PARTS];
    size_t total = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        total += lengths[i];
    for (size_t i = 0; i < n; at += lengths[i++])
        parts[i] = (struct uccs_payload){lengths[i] ? bytes + at : 0, lengths[i]};
    for (size_t i = 0; i < total; i++)
        bytes[i] = byte_of(total, i);
    OK(uccs_send_vector(other, TAKE, UCCS_AM_USER, parts, n, op));
    memset(bytes, 0xee, total);
    memset(parts, 0xee, sizeof parts);
}

static long send_all(void)
{
    static const size_t totals[] = {0, 1, 7, 127, 128, 129, 1000, 8191, 8192, 8193, 39999};
    uccs_request_t done = UCCS_REQUEST_NULL, local = UCCS_REQUEST_NULL;
    const struct uccs_op op = {.request = &done, .local = &local};
    long sent = 0;
    for (size_t t = 0; t < sizeof totals / sizeof *totals; t++)
        for (size_t n = totals[t] ? 1 : 0; n <= PARTS; n++) {
            size_t lengths[PARTS] = {0}, left = totals[t];
            for (size_t i = 0; i < n; left -= lengths[i++])
                lengths[i] = i + 1 == n ? left : left ? (totals[t] * (i * 7 + 3)) % (left + 1) : 0;
            send_parts(lengths, n, n % 2 ? &op : 0);
            sent += (long)totals[t] + 1;
        }
    OK(uccs_wait(&local));
    OK(uccs_wait(&done));
    OK(uccs_request_release(&local));
    OK(uccs_request_release(&done));
    return sent;
}

static void wrong(void)
{
    const struct uccs_payload no_data = {0, 1}, huge = {&taken, SIZE_MAX / 2}, twice[3] = {huge, huge, huge};
    CHECK_EQ(uccs_send_vector(other, TAKE, UCCS_AM_USER, &no_data, 1, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_send_vector(other, TAKE, UCCS_AM_USER, 0, 1, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_send_vector(0, TAKE, UCCS_AM_USER, 0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_send_vector(other, UCCS_AM_HANDLERS, UCCS_AM_USER, 0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_send_vector(other, TAKE, UCCS_AM_USER, &huge, 1, 0), UCCS_ERR_TOO_LARGE);
    CHECK_EQ(uccs_send_vector(other, TAKE, UCCS_AM_USER, twice, 3, 0), UCCS_ERR_INVALID);
}

int main(void)
{
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, TAKE, UCCS_AM_USER, take, 0));
    other = check_endpoint(context, 1 - me);
    wrong();
    const long sent = send_all();
    OK(uccs_stream_flush(uccs_context_stream(context), 0, 0));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    while (taken < sent)
        uccs_progress();
    CHECK_EQ(taken, sent);
    return check_pass();
}
