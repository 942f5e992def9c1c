/* Requests of a report on their way to the root, and the answers on their way back. One thread. */
#ifndef LAUNCH_RELAY_H
#define LAUNCH_RELAY_H

struct channel;

/* Passes on a request of a node below, or of oshrun --status here (which looks at this node by itself when it is not answered), to the
 * node above; null: there is none. */
void relay_ask(struct channel *above, struct channel *by, int id, int status, const char *title);
/* Passes on a line of an answer, which the node above has sent, to who has asked. */
void relay_answer(const char *line);
/* A channel that has asked has ended. */
void relay_forget(const struct channel *by);

#endif
