/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process it is and whether it has ended, with processes in other PID namespaces too. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../libredist/comm/comm.h"
#include "harness.h"

/* What a helper says of itself and of the test. */
struct report {
    int error; /* why there is no such helper; 0 = there is one */
    struct redist__process process;
    long number; /* by getpid */
    int is_test; /* it takes the test for itself */
    int test_is_gone;
};

/* A process that reports and then waits until `end` is closed, also by the end of the test. */
struct helper {
    pid_t child;
    int end;
    struct report report;
};

static int is_self(const struct redist__process *process) {
    const struct redist__process self = redist__process_self();
    return redist__process_is_same(&self, process);
}

static void run_helper(const struct redist__process *test, int report_to, int end) {
    struct report report = {.process = redist__process_self(),
                            .number = (long)getpid(),
                            .is_test = is_self(test),
                            .test_is_gone = redist__process_is_gone(test)};
    char nothing;
    ssize_t done = write(report_to, &report, sizeof(report));
    done += read(end, &nothing, 1);
    _exit(done < (ssize_t)sizeof(report));
}

/* Namespaces of a user may be allowed where those of root are not. */
static int enter_new_space(void) {
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0 &&
        unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) != 0)
        return errno;
    return 0;
}

/* The first process of a new namespace, with a /proc of that. */
static void run_in_new_space(const struct redist__process *test, int report_to, int end) {
    const struct report failed = {.error = enter_new_space()};
    const pid_t first = failed.error == 0 ? fork() : -1;
    if (first == 0) {
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
            (void)mount("proc", "/proc", "proc", 0, NULL);
        run_helper(test, report_to, end);
    }
    if (first < 0 && write(report_to, &failed, sizeof(failed)) < 0)
        _exit(EXIT_FAILURE);
    waitpid(first, NULL, 0);
    _exit(EXIT_SUCCESS);
}

static struct helper helper_start(int in_new_space) {
    const struct redist__process self = redist__process_self();
    struct helper helper = {.child = -1, .report = {.error = EAGAIN}};
    int report[2] = {-1, -1}, end[2] = {-1, -1};
    if (pipe(report) != 0 || pipe(end) != 0)
        return helper;
    helper.child = fork();
    if (helper.child == 0) {
        close(end[1]);
        (in_new_space ? run_in_new_space : run_helper)(&self, report[1], end[0]);
    }
    close(report[1]);
    close(end[0]);
    helper.end = end[1];
    if (read(report[0], &helper.report, sizeof(helper.report)) != (ssize_t)sizeof(helper.report))
        helper.report.error = EPIPE;
    close(report[0]);
    return helper;
}

static void helper_end(struct helper *helper) {
    close(helper->end);
    waitpid(helper->child, NULL, 0);
}

/* Later helpers have the earlier ones' ends open too. */
static void helpers_end(int n, struct helper helpers[]) {
    while (n > 0)
        helper_end(&helpers[--n]);
}

START_TEST(myself) {
    struct redist__process self = redist__process_self();
    check_all(self.number == (uint64_t)getpid(), "the number is wrong");
    check_all(self.space != 0 && self.start != 0, "namespace or start is unknown");
    check_all(is_self(&self) && !redist__process_is_gone(&self),
              "this process is not itself, or gone");
    self.start++;
    check_all(!is_self(&self), "another start is taken for this process");
    check_all(redist__process_is_gone(&self), "a number in use again is taken for the first user");
}
END_TEST

START_TEST(unknown) {
    const struct redist__process nobody = {0}, no_space = {0, (uint64_t)getpid(), 1, -1, 0};
    check_all(!is_self(&nobody) && !is_self(&no_space), "an unknown process is taken for this one");
    check_all(!redist__process_is_gone(&nobody) && !redist__process_is_gone(&no_space),
              "an unknown process is said to be gone");
}
END_TEST

START_TEST(killed) {
    struct helper helper = helper_start(0);
    const struct redist__process *process = &helper.report.process;
    siginfo_t info;
    check_all(helper.report.error == 0, "no process: %s", strerror(helper.report.error));
    check_all(process->number == (uint64_t)helper.child, "the child has another number");
    check_all(!helper.report.is_test && !is_self(process),
              "the child and the test are taken for one");
    check_all(!redist__process_is_gone(process) && !helper.report.test_is_gone,
              "a process that runs is said to be gone");
    kill(helper.child, SIGKILL);
    waitid(P_PID, (id_t)helper.child, &info, WEXITED | WNOWAIT);
    check_all(redist__process_is_gone(process), "a zombie is not said to be gone");
    helper_end(&helper);
    check_all(redist__process_is_gone(process), "a killed process is not said to be gone");
}
END_TEST

/* What it had given up before it described itself is no news. */
START_TEST(gives_up) {
    struct helper helper = helper_start(0);
    const struct redist__process before = redist__process_self();
    check_all(helper.report.error == 0, "no process: %s", strerror(helper.report.error));
    struct redist__process child = helper.report.process;
    check_all(!redist__process_is_gone(&child), "a process that runs is said to be gone");
    redist__process_give_up();
    const struct redist__process after = redist__process_self();
    check_all(redist__process_is_gone(&before), "nobody sees that this process has given up");
    check_all(!redist__process_has_ended(&before), "it is said to have ended");
    check_all(!redist__process_is_gone(&after), "it has given up again");
    helper_end(&helper);
}
END_TEST

/* Two processes with the number 1, beside the one that everybody sees. */
START_TEST(equal_numbers) {
    struct helper helpers[2];
    for (int i = 0; i < 2; i++)
        helpers[i] = helper_start(1);
    const struct report *a = &helpers[0].report, *b = &helpers[1].report;
    const int error = a->error != 0 ? a->error : b->error;
    if (error != 0) {
        helpers_end(2, helpers);
        skip_test("no PID namespaces: %s", strerror(error));
    }
    check_all(a->number == 1 && b->number == 1 && a->process.number == b->process.number,
              "the numbers are %ld and %ld", a->number, b->number);
    check_all(a->process.space != b->process.space &&
                  a->process.space != redist__process_self().space,
              "namespaces are not told apart");
    check_all(!a->is_test && !b->is_test, "the test is taken for a process of another namespace");
    check_all(!a->test_is_gone && !redist__process_is_gone(&a->process),
              "a process that cannot be seen is said to be gone");
    helpers_end(2, helpers);
    check_all(!redist__process_is_gone(&a->process),
              "it is said that a process is gone that cannot be seen");
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {myself, unknown, killed, gives_up, equal_numbers, NULL};
    return harness_run(argc, argv, "test_redist_process", tests);
}
