/* The files of --output-filename: NAME.PE for each PE, the number with zeros in front so that a listing is in order. */
#ifndef LAUNCH_FILES_H
#define LAUNCH_FILES_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the folder that the files lie in, and those above it. Returns false after one line. */
bool files_make_folder(const char *name);
/* Makes the file of a PE anew, open to be written at its end. Returns it, or -1 with errno after one line. */
int files_open(const char *name, uint32_t pe, uint32_t pes);

#endif
