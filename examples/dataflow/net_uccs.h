/* The dataflow runtime's messages over uccs.h. The process may use OpenSHMEM as well: both are on one substrate, so that a wait of
 * either moves the messages of both. */
#ifndef DATAFLOW_NET_UCCS_H
#define DATAFLOW_NET_UCCS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <uccs.h>

typedef struct uccs_payload net_part;

static int net_me, net_size;
static uccs_context_t net_context;
static uccs_endpoint_t *net_endpoints;
static uccs_request_t net_left;

static void df_arrived(int from, const char *message, size_t length);

static void net_check(int status, const char *call)
{
    if (status == UCCS_OK)
        return;
    fprintf(stderr, "dataflow: %s: %s\n", call, uccs_status_text(status));
    abort();
}

static void net_handle(uccs_am_token_t token, const void *payload, size_t length, void *unused)
{
    (void)unused;
    df_arrived(uccs_am_source(token), payload, length);
}

/* Handlers of the network class run on the progress thread too, so a process that computes still gives tasks away. The id of the
 * context is agreed on, so that it meets no other library's. */
static void net_start(void)
{
    net_me = uccs_group_rank(UCCS_GROUP_WORLD);
    net_size = uccs_group_size(UCCS_GROUP_WORLD);
    net_endpoints = calloc((size_t)net_size, sizeof *net_endpoints);
    net_check(net_endpoints ? UCCS_OK : UCCS_ERR_NO_MEMORY, "calloc");
    net_check(uccs_context_create_in(UCCS_GROUP_WORLD, NULL, &net_context), "uccs_context_create_in");
    for (int pe = 0; pe < net_size; pe++)
        net_check(uccs_stream_endpoint(uccs_context_stream(net_context), UCCS_GROUP_WORLD, pe, &net_endpoints[pe]),
                  "uccs_stream_endpoint");
    net_check(uccs_am_register(net_context, 0, UCCS_AM_NETWORK_PROTOCOL, net_handle, NULL), "uccs_am_register");
}

/* Returns false when there is no room now. Never waits, so handlers call it. */
static bool net_send(int to, const net_part *parts, size_t n)
{
    const struct uccs_op op = {.nowait = 1};
    const int status = uccs_send_vector(net_endpoints[to], 0, UCCS_AM_NETWORK_PROTOCOL, parts, n, &op);
    if (status != UCCS_AGAIN)
        net_check(status, "uccs_send_vector");
    return status == UCCS_OK;
}

static void net_progress(void)
{
    uccs_context_progress(net_context);
}

/* This process has nothing left to do; net_all_left tells, without waiting, whether that is so for all. */
static void net_leave(void)
{
    net_check(uccs_barrier_nb(UCCS_GROUP_WORLD, &net_left), "uccs_barrier_nb");
}

static bool net_all_left(void)
{
    return uccs_test(&net_left) == UCCS_OK;
}

static void net_end(void)
{
    uccs_request_release(&net_left);
    net_check(uccs_context_destroy(net_context), "uccs_context_destroy");
    free(net_endpoints);
}

#endif
