/* The command line: arguments, one a line, as main gets them. Whatever they are: an exit status that fits what was said, and no
 * fault. Commands that read and write files of the user's choice are left out; eval, list and describe get the toys' catalog,
 * which is opened once. */
#include "config/catalog.h"
#include "toy_catalog.h"

#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int dse_main(int argc, char **argv); /* src/cli/main.c */
struct catalog *__real_catalog_new(const char *data_dir, struct diags *diags);
struct catalog *__wrap_catalog_new(const char *data_dir, struct diags *diags);
void __real_catalog_free(struct catalog *c);
void __wrap_catalog_free(struct catalog *c);

static bool is_open; /* the catalog is being opened for the first time */
static struct catalog *shared;

struct catalog *__wrap_catalog_new(const char *data_dir, struct diags *diags)
{
    if (is_open) return __real_catalog_new(data_dir, diags);
    is_open = true;
    shared = toy_catalog();
    is_open = false;
    return shared;
}

void __wrap_catalog_free(struct catalog *c)
{
    if (c != shared) __real_catalog_free(c);
}

enum { ARGUMENTS_MAX = 24, ARGUMENT_LONGEST = 400 };

/* May these arguments be tried? Files are only those of the working directory. */
static bool is_harmless(char **argv, int argc)
{
    static const char *const commands[] = {"sweep",   "query",   "pareto", "plot",  "merge", "validate", "calibrate", "trace",
                                           "profile", "figures", "report", "agree", "dram",  "check",    "measure"};
    for (int i = 1; i < argc; i++)
        if (strchr(argv[i], '/') || strlen(argv[i]) > ARGUMENT_LONGEST) return false;
    int command = 1;
    while (command < argc && strcmp(argv[command], "--no-pager") == 0) command++;
    for (size_t i = 0; command < argc && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[command], commands[i]) == 0) return false;
    return true;
}

static char folder[] = "/tmp/dse-fuzz-args-XXXXXX";

static void empty_folder(void)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        char *path = xasprintf("%s/%s", folder, e->d_name);
        remove(path);
        free(path);
    }
    if (dir) closedir(dir);
    rmdir(folder);
}

static FILE *nowhere; /* what the command prints */

static void set_up(void)
{
    need(mkdtemp(folder) && chdir(folder) == 0);
    atexit(empty_folder);
    FILE *own = fopen("c.toml", "w"); /* what -c c.toml names */
    need(own && fputs("[llms.mine]\nlike = 'tiny'\nlayers = 3\n", own) >= 0 && fclose(own) == 0);
    setenv("DSE_DATA_DIR", toy_data_dir(), 1);
    setenv("HOME", folder, 1);
    unsetenv("DSE_CATALOG");
    unsetenv("XDG_CONFIG_HOME");
    nowhere = fopen("/dev/null", "w");
    need(nowhere != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static bool ready;
    if (!ready) set_up();
    ready = true;
    char *text = xstrndup((const char *)data, n), *argv[ARGUMENTS_MAX + 2] = {text};
    static char name[] = "dse";
    int argc = 0;
    argv[argc++] = name;
    for (char *s = strtok(text, "\n"); s && argc <= ARGUMENTS_MAX; s = strtok(NULL, "\n")) argv[argc++] = s;
    if (is_harmless(argv, argc)) {
        FILE *const out = stdout, *const err = stderr; /* file descriptor 2 stays with the sanitizers */
        stdout = stderr = nowhere;
        optind = 0; /* getopt begins anew: it may have been left inside of a cluster of options */
        getopt(1, argv, "");
        const int status = dse_main(argc, argv);
        stdout = out;
        stderr = err;
        need(status == 0 || status == 1 || status == 2);
    }
    free(text);
    return 0;
}
