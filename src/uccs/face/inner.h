/* Functions that the files of this folder share. */
#ifndef UCCS_FACE_INNER_H
#define UCCS_FACE_INNER_H

/* Releases, at the end of a life, the contexts that the program has left. None of their operations is under way. */
void uccs_contexts_close(void);

#endif
