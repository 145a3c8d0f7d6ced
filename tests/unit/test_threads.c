/* Threads that the system does not give are done without; memory that it does not give ends the process with a message. */
#include "base/threads.h"
#include "base/xalloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* An allocation that is too large gives NULL, as without the sanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* The system's, which gives so many threads more. */
static int left;

typedef int create_function(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *user);

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *user)
{
    create_function *real;
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real, &symbol, sizeof real);
    if (left-- <= 0) return EAGAIN;
    return real(thread, attr, run, user);
}

static void threads__are_as_many_as_there_are_to_be_had(void **state)
{
    (void)state;
    assert_int_equal(threads_available(0), 1);
    assert_int_equal(threads_available(1), 1);
    left = 3;
    assert_int_equal(threads_available(2), 2);
    left = 3;
    assert_int_equal(threads_available(8), 4);
    left = 100;
    assert_int_equal(threads_available(3), 3); /* not tried again */
    assert_int_equal(threads_available(8), 4);
}

/* What a child that runs `run` says, and its exit status. */
static void child(void (*run)(void), const char *says)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        run();
        _exit(0);
    }
    close(ends[1]);
    char said[4096] = "";
    size_t n = 0;
    for (ssize_t k; (k = read(ends[0], said + n, sizeof said - 1 - n)) > 0;) n += (size_t)k;
    said[n] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    if (!strstr(said, says)) fail_msg("\"%s\" is not in \"%s\"", says, said);
}

static void ask_malloc(void)
{
    free(xmalloc(SIZE_MAX / 4));
}

static void ask_calloc(void)
{
    free(xcalloc(SIZE_MAX / 4, 3));
}

static void ask_realloc(void)
{
    free(xrealloc(NULL, SIZE_MAX / 2, 4));
}

static void memory__that_is_not_there_is_told(void **state)
{
    (void)state;
    child(ask_malloc, "dse: error: out of memory: 4611686018427387903 bytes are not to be had\n");
    child(ask_calloc, "dse: error: out of memory");
    child(ask_realloc, "dse: error: out of memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads__are_as_many_as_there_are_to_be_had),
        cmocka_unit_test(memory__that_is_not_there_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
