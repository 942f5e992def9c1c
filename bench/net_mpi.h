/* The dataflow runtime's messages over MPI's: the same functions as examples/dataflow/net_uccs.h. Messages are received by
 * MPI_Iprobe in net_progress; a sender keeps a copy until MPI is done with it. One thread. */
#ifndef BENCH_NET_MPI_H
#define BENCH_NET_MPI_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NET_SENDS = 64, NET_BYTES = 1 << 16 };

typedef struct net_part {
    const void *data;
    size_t length;
} net_part;

static int net_me, net_size;
static MPI_Request net_sends[NET_SENDS], net_left;
static char net_out[NET_SENDS][NET_BYTES], net_in[NET_BYTES];

static void df_arrived(int from, const char *message, size_t length);

static void net_start(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &net_me);
    MPI_Comm_size(MPI_COMM_WORLD, &net_size);
    for (int i = 0; i < NET_SENDS; i++)
        net_sends[i] = MPI_REQUEST_NULL;
}

static bool net_send(int to, const net_part *parts, size_t n)
{
    int slot, free_slot, bytes = 0;
    static int next;
    slot = next;
    MPI_Test(&net_sends[slot], &free_slot, MPI_STATUS_IGNORE);
    if (!free_slot)
        return false;
    next = (next + 1) % NET_SENDS;
    for (size_t i = 0; i < n; bytes += (int)parts[i++].length)
        memcpy(net_out[slot] + bytes, parts[i].data, parts[i].length);
    MPI_Isend(net_out[slot], bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD, &net_sends[slot]);
    return true;
}

static void net_progress(void)
{
    int found, bytes;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, &status);
    if (!found)
        return;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    MPI_Recv(net_in, sizeof net_in, MPI_BYTE, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    df_arrived(status.MPI_SOURCE, net_in, (size_t)bytes);
}

static void net_leave(void)
{
    MPI_Ibarrier(MPI_COMM_WORLD, &net_left);
}

static bool net_all_left(void)
{
    int all;
    MPI_Test(&net_left, &all, MPI_STATUS_IGNORE);
    return all;
}

static void net_end(void)
{
    for (int i = 0; i < NET_SENDS; i++)
        MPI_Wait(&net_sends[i], MPI_STATUS_IGNORE);
}

#endif
