/* Grey pictures as PNG, without compression. */
#ifndef PNG_H
#define PNG_H

/* Returns 0, or -1 with errno set. */
int png_write(const char *name, const unsigned char *grey, int width, int height);

#endif
