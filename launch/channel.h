/* Lines of text between watchers and oshrun: connections over TCP whose ends know the job's key (net/auth/auth.h), and the local
 * sockets by which oshrun --status asks. The loop serves them (loop.h). One thread.
 *
 * A channel is freed in channels_sweep alone, after its `closed` has returned; channel_close marks it. */
#ifndef LAUNCH_CHANNEL_H
#define LAUNCH_CHANNEL_H

#include "loop.h"
#include "net/auth/auth.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct channel {
    struct loop_watch watch;
    int fd;   /* -1: not connected */
    int peer; /* the number that the other end told; -1: oshrun --status */
    bool up;  /* connected and proved */
    bool ended;
    struct dialer *dialer;
    void (*heard)(struct channel *channel,
                  char *line); /* a line without its end, which may be changed; null: a dialed one is up */
    void (*closed)(struct channel *channel); /* the other end is gone, or was never reached; null: nobody cares */
    char *in;
    size_t have;
    struct channel *next;
};

/* What the owner of the process does with a connection that has come: sets heard and closed. */
typedef void channel_accept(struct channel *channel);

/* Accepts parties 0 .. parties-1 that know the key, as number `me`, and stores the routes to this process. Their port is 0 when nobody
 * can connect. */
void channels_listen(const uint64_t key[2], uint32_t me, uint32_t parties, channel_accept *accept, struct routes *mine);

/* Connections that come from now on must know this key, and mean this number. */
void channels_expect(const uint64_t key[2], uint32_t me);

/* True while a connection has come that has not passed the handshake. */
bool channels_pending(void);

/* Accepts processes of this user that call channel_ask with this process's number. */
void channels_listen_here(channel_accept *accept);

/* Connects to such a listener. The channel is up later, or closed. */
struct channel *channel_dial(const uint64_t key[2], uint32_t me, uint32_t other, const struct routes *to);

/* Connects to the process of this machine. Returns a descriptor, or -1. */
int channel_ask(pid_t process);

/* Sends a line; the format ends it. Nothing happens where the channel is null or not up. */
void channel_send(struct channel *channel, const char *format, ...) __attribute__((format(printf, 2, 3)));
void channel_close(struct channel *channel);

/* The place of a listener as one word, NODE_FRONT in front, for the environment; at most NODE_FRONT_BYTES with the end. */
void channel_write_place(char *text, const uint64_t key[2], const struct routes *routes);
bool channel_read_place(const char *text, uint64_t key[2], struct routes *routes);

/* Passes on a request of a report, of a node below or of oshrun --status here (which looks at this node by itself when it is not answered), to
 * the node above; null: there is none. */
void relay_ask(struct channel *above, struct channel *by, int id, int status, const char *title);
/* Passes on a line of an answer, which the node above has sent, to who has asked. Requests that are passed on bear numbers from 1 on; 0 stands
 * for what this process has asked itself. */
void relay_answer(const char *line);
/* A channel that has asked has ended. */
void relay_forget(struct channel *by);

/* Frees the channels that have ended: after each turn of the loop. */
void channels_sweep(void);

#endif
