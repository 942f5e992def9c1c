/* Text that goes to a terminal. Names of files and values of variables may hold bytes that a terminal obeys. */
#ifndef BASE_PLAIN_H
#define BASE_PLAIN_H

#include <stddef.h>

/* Puts a question mark in place of every control character. Bytes above 127 stay: they are UTF-8. */
static inline void plain_text(char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            text[i] = '?';
}

#endif
