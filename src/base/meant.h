/* Finds the name that a misspelt word means.
 *
 * Two words are near when few typing mistakes lie between them: a letter too many, too few, wrong, or two letters
 * exchanged (the optimal string alignment distance). Pure functions without memory of their own; any thread may call
 * them. */
#ifndef BASE_MEANT_H
#define BASE_MEANT_H

#include <stddef.h>

#define MEANT_BYTES 64 /* longer words are near to none */

/* Returns the number of typing mistakes between two words of at most MEANT_BYTES bytes each; more than any word has when
 * one is longer. */
unsigned meant_distance(const char *one, size_t one_bytes, const char *other, size_t other_bytes);
/* Returns how many mistakes a word of `bytes` bytes may have: none below 4, then 1 for 4 to 7 and 2 for longer ones. */
unsigned meant_mistakes(size_t bytes);

/* Returns the name of a variable that the text NAME=VALUE (or NAME) means, when the name begins with LATERAL_, SHMEM_ or
 * SMA_, is no variable of Lateral, and is near to one or another library's name of one. Otherwise null. */
const char *meant_variable(const char *entry);

#endif
