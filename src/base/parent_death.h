/* Ends this process when a distant parent is gone, whoever lies between them.
 *
 * The parent's death signal reaches children only; a program that a wrapper script starts is not one. So the launcher makes a
 * pipe, keeps the writing end, and lets its programs inherit the reading end. The kernel kills a process that follows
 * the pipe when its last writing end closes. It costs nothing before that. */
#ifndef BASE_PARENT_DEATH_H
#define BASE_PARENT_DEATH_H

/* Ties this process to the pipe whose reading end it inherited as this descriptor, which it keeps from other programs.
 * Does nothing when it is no pipe, or without /proc. One thread calls it. */
void parent_death_follow(int fd);

#endif
