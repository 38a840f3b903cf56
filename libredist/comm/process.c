/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes as /proc describes them. */
#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* State and start of a process; 0 if there is no such file. The second field, the program's name in
 * parentheses, may contain anything. */
static int read_stat(const char *file, char *state, unsigned long long *start) {
    char text[1024];
    FILE *stream = fopen(file, "r");
    if (stream == NULL)
        return 0;
    size_t length = fread(text, 1, sizeof text - 1, stream);
    fclose(stream);
    text[length] = '\0';
    const char *behind = strrchr(text, ')');
    return behind != NULL &&
           sscanf(behind,
                  ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                  "%llu",
                  state, start) == 2;
}

static uint64_t find_space(void) {
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 ? (uint64_t)status.st_ino : 0;
}

/* The first thread started with the process. An emulator (qemu) makes up /proc/self/stat, with a start that
 * is not the one that others see. */
static int read_own_stat(char *state, unsigned long long *start) {
    char file[64];
    snprintf(file, sizeof file, "/proc/self/task/%d/stat", (int)getpid());
    return read_stat(file, state, start) || read_stat("/proc/self/stat", state, start);
}

struct redist__process redist__process_self(void) {
    char state;
    unsigned long long start = 0;
    if (!read_own_stat(&state, &start))
        start = 0;
    return (struct redist__process){find_space(), (uint64_t)getpid(), start};
}

int redist__process_is_self(const struct redist__process *process) {
    struct redist__process self = redist__process_self();
    return self.space == process->space && self.number == process->number &&
           self.start == process->start;
}

int redist__process_is_gone(const struct redist__process *process) {
    char file[64], state = ' ';
    unsigned long long start = 0;
    if (process->space == 0 || process->number == 0 || process->space != find_space())
        return 0;
    if (kill((pid_t)process->number, 0) != 0 && errno == ESRCH)
        return 1;
    snprintf(file, sizeof file, "/proc/%llu/stat", (unsigned long long)process->number);
    if (!read_stat(file, &state, &start))
        return 0;
    return state == 'Z' || state == 'X' || (process->start != 0 && start != process->start);
}
