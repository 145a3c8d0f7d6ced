/* Writing files: whole or not at all, with nothing left behind, whatever came before. */
#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

static char *dir;

static int enter(void **state)
{
    (void)state;
    dir = scratch_new();
    return chdir(dir);
}

static int leave(void **state)
{
    (void)state;
    if (chdir("/") != 0) return -1;
    scratch_remove(dir);
    return 0;
}

static void holds(const char *path, const char *expected)
{
    struct diags d;
    diags_init(&d);
    char *s;
    assert_true(text_read_file(path, 1 << 24, &s, NULL, &d));
    assert_string_equal(s, expected);
    free(s);
}

static size_t files(void)
{
    DIR *d = opendir(".");
    size_t n = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void write_ok(const char *path, const char *s)
{
    struct diags d;
    diags_init(&d);
    if (!file_write(path, s, strlen(s), &d)) fail_msg("%s: %s", path, d.list[0].message);
    holds(path, s);
}

static void file__replaces_what_stands_there(void **state)
{
    (void)state;
    write_ok("a.txt", "one");
    write_ok("a.txt", "two");
    write_ok("./b.txt", "");
    assert_int_equal(files(), 2);
}

static void file__is_not_there_before_it_is_whole(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    write_ok("a.txt", "old");
    struct file *f = file_begin("a.txt", &d);
    char *much = xmalloc(1000000);
    memset(much, 'x', 1000000);
    assert_true(file_put(f, much, 1000000));
    holds("a.txt", "old");
    file_abandon(f);
    holds("a.txt", "old");
    assert_int_equal(files(), 1);
    f = file_begin("a.txt", &d);
    for (int i = 0; i < 100; i++) file_put(f, "0123456789", 10);
    assert_true(file_commit(f, &d));
    assert_int_equal(files(), 1);
    free(much);
}

static void file__keeps_modes_and_follows_links(void **state)
{
    (void)state;
    struct stat st;
    write_ok("secret.txt", "old");
    assert_int_equal(chmod("secret.txt", 0600), 0);
    assert_int_equal(symlink("secret.txt", "link.txt"), 0);
    write_ok("link.txt", "new");
    holds("secret.txt", "new");
    assert_int_equal(lstat("link.txt", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat("secret.txt", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void refused(const char *path, const char *message)
{
    struct diags d;
    diags_init(&d);
    assert_null(file_begin(path, &d));
    assert_string_equal(d.list[0].message, message);
    assert_int_equal(diags_exit_status(&d), 1);
    diags_release(&d);
}

static void file__refuses_what_it_would_not_replace(void **state)
{
    (void)state;
    refused("/dev/null", "cannot write: it is not a regular file");
    refused(".", "cannot write: it is not a regular file");
    refused("none/a.txt", "cannot write: No such file or directory");
}

/* ---- those who are killed -------------------------------------------------------------------------------------------------- */

/* What a process that was killed between naming its file and putting it in place leaves, and an older dse's, whose name came from
 * its id. */
static void file__is_not_blocked_by_what_a_killed_process_left(void **state)
{
    (void)state;
    char *old = xasprintf("a.txt.%ld.tmp", (long)getpid());
    scratch_write(".", old, "half");
    scratch_write(".", ".a.txt.0123456789abcdef.dse-tmp", "half");
    scratch_write(".", ".b.txt.0123456789abcdef.dse-tmp", "of another file");
    write_ok("a.txt", "whole");
    assert_int_not_equal(access(".a.txt.0123456789abcdef.dse-tmp", F_OK), 0);
    assert_int_equal(access(".b.txt.0123456789abcdef.dse-tmp", F_OK), 0);
    assert_int_equal(access(old, F_OK), 0); /* not ours to say whose it is */
    free(old);
}

/* A file that somebody is still writing is let alone. */
static void file__leaves_those_of_others_alone(void **state)
{
    (void)state;
    int fd = open(".a.txt.0123456789abcdef.dse-tmp", O_RDWR | O_CREAT, 0666);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &whole), 0);
    write_ok("a.txt", "mine");
    assert_int_equal(access(".a.txt.0123456789abcdef.dse-tmp", F_OK), 0);
    close(fd);
    write_ok("a.txt", "mine again");
    assert_int_equal(files(), 1);
}

/* Writes until it is killed. */
static void write_for_ever(void)
{
    struct diags d;
    diags_init(&d);
    char text[5000];
    memset(text, 'y', sizeof text);
    for (;;) file_write("a.txt", text, sizeof text, &d);
}

static void file__leaves_nothing_when_killed_at_any_time(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        if (child == 0) write_for_ever();
        usleep((useconds_t)(1000 + 137 * i % 9000));
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        struct stat st;
        if (stat("a.txt", &st) == 0) assert_int_equal(st.st_size, 5000);
    }
    write_ok("a.txt", "the last");
    assert_int_equal(files(), 1);
}

/* Without /proc a file without a name cannot be given one, as on file systems that know no such files: it is written under a name
 * of its own. */
static void file__leaves_little_when_killed_where_files_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        if (child == 0) {
            if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
                mount("none", "/proc", "tmpfs", 0, NULL) != 0)
                _exit(77);
            write_for_ever();
        }
        usleep((useconds_t)(3000 + 137 * i % 9000));
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status)) skip(); /* not root */
        struct stat st;
        if (stat("a.txt", &st) == 0) assert_int_equal(st.st_size, 5000);
        assert_true(files() <= 2); /* the file, and what the last one left: the next removes it */
    }
    write_ok("a.txt", "the last");
    assert_int_equal(files(), 1);
}

/* ---- a full disk ----------------------------------------------------------------------------------------------------------- */

static void file__fails_whole_when_the_disk_is_full(void **state)
{
    (void)state;
    write_ok("a.txt", "old");
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        const struct rlimit limit = {100000, 100000};
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(3);
        struct diags d;
        diags_init(&d);
        char *much = xcalloc(1000000, 1);
        struct file *f = file_begin("a.txt", &d);
        bool refused = !file_put(f, much, 1000000), ok = file_commit(f, &d);
        bool told = d.errors == 1 && strcmp(d.list[0].message, "cannot write: File too large") == 0;
        diags_release(&d);
        free(much);
        _exit(refused && !ok && told ? 0 : 4);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    holds("a.txt", "old");
    assert_int_equal(files(), 1);
}

#define IN_DIRECTORY(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(file__replaces_what_stands_there),
        IN_DIRECTORY(file__is_not_there_before_it_is_whole),
        IN_DIRECTORY(file__keeps_modes_and_follows_links),
        IN_DIRECTORY(file__refuses_what_it_would_not_replace),
        IN_DIRECTORY(file__is_not_blocked_by_what_a_killed_process_left),
        IN_DIRECTORY(file__leaves_those_of_others_alone),
        IN_DIRECTORY(file__leaves_nothing_when_killed_at_any_time),
        IN_DIRECTORY(file__leaves_little_when_killed_where_files_have_names),
        IN_DIRECTORY(file__fails_whole_when_the_disk_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
