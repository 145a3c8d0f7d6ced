"""Plug-ins that are made to hurt whoever loads them: make(add, build) calls add(kind, name, file, how it must end, ...) for each.

How it must end is as in hostile_toml.py. `waits`: it is measured by the clock, not by what it takes of a processor.
"""
import os
import struct
import subprocess

from hostile_toml import ANY

MODEL = r"""
#include <dse/plugin.h>
#include <math.h>
struct p { struct dse_workload workload; struct dse_dram dram; double own; int32_t choice; };
struct m { struct dse_common common; double own; };
#ifndef ROWS
#define ROWS
#endif
#ifndef METRICS
#define METRICS DSE_METRIC_EMBED(struct m, common, struct dse_common, dse_common_metrics), DSE_METRIC_END
#endif
#define EMBEDDED DSE_EMBED(struct p, workload, struct dse_workload, dse_workload_params), DSE_EMBED(struct p, dram, struct dse_dram, dse_dram_params)
#define ROW(...) {.type = DSE_TYPE_F64, .name = "x", .unit = "", .doc = "x", .source = "", .min = 0, .max = 1, .offset = offsetof(struct p, own), __VA_ARGS__},
#ifdef BEFORE
BEFORE
#endif
#ifndef PARAMS
#define PARAMS EMBEDDED, ROWS DSE_PARAM_END
static const struct dse_param params[] = {PARAMS};
#endif
static const struct dse_metric metrics[] = {METRICS};
static void resolve(void *p) { dse_dram_resolve(&((struct p *)p)->dram); }
static void estimate(const void *p, void *m, struct dse_breakdown *b)
{
    (void)p, (void)b;
#ifdef ESTIMATE
    ESTIMATE;
#else
    *(struct dse_common *)m = (struct dse_common){.tokens_per_s = 1};
#endif
}
static const char *check(const void *p)
{
    (void)p;
#ifdef CHECK
    CHECK;
#endif
    return 0;
}
static const struct dse_model dse_model_mine = {.name = "mine", .title = "mine", .cite = "mine", .version = 1, .params = params, .params_size = sizeof(struct p),
    .metrics = metrics, .metrics_size = sizeof(struct m), .resolve = resolve, .check = check, .estimate = estimate,
#ifdef MEMBERS
    MEMBERS
#endif
};
#ifdef PLUGIN
__attribute__((visibility("default"))) const struct dse_plugin dse_plugin = PLUGIN;
#else
DSE_PLUGIN(&dse_model_mine);
#endif
"""

BEGIN = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
volatile int *volatile nowhere;
volatile unsigned long counted;
static inline void spin(void) { for (;;) counted++; }
static void *sleeper(void *p) { for (;;) pause(); return p; }
static void *spinner(void *p) { spin(); return p; }
static int deep(volatile int n) { volatile char room[1 << 12]; room[0] = (char)n; return deep(n + 1) + room[0]; }
static void *volatile filled;
static void fill(size_t mib) { filled = memset(malloc(mib << 20), 1, mib << 20); }
"""

CRASH, ENDS, LONG, LARGE = "crashes when it is loaded", "ends the program when it is loaded", "takes too long to load; at most 0.8 s", "takes too much memory to load; at most 512 MiB"
CLOSES = "closes the input or output of the program"

# name: what the constructor does, how that ends, and whether it waits
CONSTRUCTORS = [
    ("nothing", "", None),
    ("abort", "abort();", CRASH),
    ("reads from nowhere", "counted = (unsigned long)*nowhere;", CRASH),
    ("writes to nowhere", "*nowhere = 1;", CRASH),
    ("jumps to nowhere", "((void (*)(void))nowhere)();", CRASH),
    ("recurses without end", "deep(0);", CRASH),
    ("divides by 0", "raise(SIGFPE);", CRASH),
    ("has an instruction that does not exist", "__builtin_trap();", CRASH),
    ("kills itself", "raise(SIGKILL);", CRASH),
    ("ends itself politely", "raise(SIGTERM);", CRASH),
    ("kills its group", "kill(0, SIGKILL);", CRASH),
    ("frees what is not its own", "free((void *)16);", CRASH),
    ("frees twice", "void *volatile p = malloc(100); free(p); free(p);", CRASH),
    ("exit(0)", "exit(0);", ENDS),
    ("exit(2)", "exit(2);", ENDS),
    ("exit(93)", "exit(93);", ENDS),
    ("_exit(0)", "_exit(0);", ENDS),
    ("_exit(93)", "_exit(93);", ENDS),
    ("exits by the kernel", "syscall(SYS_exit_group, 0);", ENDS),
    ("ends its thread", "pthread_exit(0);", ENDS),
    ("becomes another program", 'execl("/bin/true", "true", (char *)0);', ENDS),
    ("becomes a program that sleeps", 'execl("/bin/sleep", "sleep", "100", (char *)0);', LONG, True),
    ("becomes a program that is not there", 'execl("/nowhere", "nowhere", (char *)0);', None),
    ("spins", "spin();", LONG),
    ("spins and ignores signals", "for (int i = 1; i < 64; i++) signal(i, SIG_IGN); spin();", LONG),
    ("spins with all signals blocked", "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0); spin();", LONG),
    ("spins in the kernel", "for (;;) getppid();", LONG),
    ("yields for ever", "for (;;) sched_yield();", LONG),
    ("crashes for ever", "signal(SIGSEGV, SIG_IGN); signal(SIGALRM, SIG_IGN); for (;;) raise(SIGSEGV);", LONG),
    ("sleeps for ever", "sleep(1000);", LONG, True),
    ("sleeps for 3 s", "sleep(3);", LONG, True),
    ("sleeps a little at a time", "for (;;) usleep(1000);", LONG, True),
    ("sleeps and works in turns", "for (;;) { for (int i = 0; i < 1000000; i++) counted++; usleep(1000); }", LONG, True),
    ("sleeps for 0.2 s", "usleep(200000);", None, True),
    ("works for 0.2 s", "for (clock_t from = clock(); clock() - from < CLOCKS_PER_SEC / 5;) counted++;", None),
    ("sleeps with all signals blocked", "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0); for (;;) sleep(1000);", LONG, True),
    ("pauses", "pause();", LONG, True),
    ("stops itself", "raise(SIGSTOP);", LONG, True),
    ("has itself traced and stops", "ptrace(PTRACE_TRACEME, 0, 0, 0); raise(SIGSTOP);", CRASH, True),
    ("waits for a lock that it has", "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); pthread_mutex_lock(&m);", LONG, True),
    ("waits for a signal", "sigset_t all; sigfillset(&all); int s; sigwait(&all, &s);", LONG, True),
    ("waits for nothing to read", "int p[2]; if (pipe(p) == 0) { char c; counted = (unsigned long)read(p[0], &c, 1); }", LONG, True),
    ("waits for a connection", "int s = socket(AF_INET, SOCK_STREAM, 0); listen(s, 1); poll(&(struct pollfd){.fd = s, .events = POLLIN}, 1, -1);", LONG, True),
    ("waits for a file that has no writer", 'mkfifo("fifo", 0600); counted = (unsigned long)open("fifo", O_RDONLY);', LONG, True),
    ("waits for input", "char c; counted = (unsigned long)read(0, &c, 1);", None),
    ("waits for a thread that sleeps", "pthread_t t; pthread_create(&t, 0, sleeper, 0); pthread_join(t, 0);", LONG, True),
    ("waits for a thread that spins", "pthread_t t; pthread_create(&t, 0, spinner, 0); pthread_join(t, 0);", LONG),
    ("ends its thread, and another sleeps", "pthread_t t; pthread_create(&t, 0, sleeper, 0); pthread_exit(0);", LONG, True),
    ("leaves a thread that sleeps", "pthread_t t; pthread_create(&t, 0, sleeper, 0);", None),
    ("leaves a hundred threads", "for (int i = 0; i < 100; i++) { pthread_t t; pthread_create(&t, 0, sleeper, 0); }", None),
    ("waits for a child that sleeps", "if (fork() == 0) sleeper(0); wait(0);", LONG, True),
    ("waits for a vfork that sleeps", "if (vfork() == 0) { sleep(1000); _exit(0); }", LONG, True),
    ("leaves a child that sleeps", "if (fork() == 0) sleeper(0);", None, True),
    ("leaves a child that spins", "if (fork() == 0) { alarm(5); spin(); }", None, True),
    ("leaves 20 children in a session of their own", "for (int i = 0; i < 20; i++) if (fork() == 0) { setsid(); alarm(5); sleeper(0); }", None, True),
    ("goes on in a child, and ends", "if (fork() != 0) _exit(0);", ENDS, True),
    ("leaves its group and sleeps", "setpgid(0, getpgid(getppid())); setsid(); sleep(1000);", LONG, True),
    ("allocates without end", "for (;;) counted += (unsigned long)malloc(1 << 20);", ANY),
    ("fills memory without end", "for (;;) fill(16);", "to load; at most"),
    ("fills memory without end, page by page", "for (;;) { volatile char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); *p = 1; }", ANY),
    ("fills shared memory without end", "for (;;) filled = memset(mmap(0, 1 << 24, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), 1, 1 << 24);", "to load; at most"),
    ("fills 700 MiB", "fill(700);", "to load; at most"),
    ("fills 600 MiB and gives it back", "void *volatile p = malloc((size_t)600 << 20); filled = memset(p, 1, (size_t)600 << 20); free(p);", "to load; at most"),
    ("fills 100 MiB", "fill(100);", None),
    ("asks for more than there is", "counted = (unsigned long)malloc((size_t)1 << 46);", None),
    ("prints without end", 'for (;;) printf("%08d\\n", 1);', LONG),
    ("prints errors without end", 'for (;;) fprintf(stderr, "%08d\\n", 1);', LONG),
    ("prints a line", 'printf("hello\\n");', None),
    ("closes the output", "close(1);", CLOSES),
    ("closes the errors", "fclose(stderr);", CLOSES),
    ("closes all files", "for (int i = 0; i < 1024; i++) close(i);", CLOSES),
    ("writes to all files", 'for (int i = 3; i < 1024; i++) counted += (unsigned long)write(i, "x", 1);', ANY),
    ("opens files until there are no more", 'while (open("/dev/null", O_RDONLY) >= 0) {}', ANY),
    ("ignores signals", "for (int i = 1; i < 64; i++) signal(i, SIG_IGN);", None),
    ("leaves with longjmp", "static jmp_buf b; longjmp(b, 1);", ""),
    ("loads itself", 'dlopen("./begin.so", RTLD_NOW);', None),
    ("wants to be woken", "alarm(1);", ANY),
    ("changes its folder", 'counted = (unsigned long)chdir("/");', ANY),
    ("empties the environment", "clearenv();", ANY),
]

COMMON = "*(struct dse_common *)m = (struct dse_common){.tokens_per_s = 1}"
MANY = '{.type = DSE_TYPE_F64, .name = names[I], .unit = "", .doc = "x", .source = "", .max = 1, .offset = offsetof(struct p, own)},'

# name: definitions that the model is compiled with, and how that ends
TABLES = [
    ("a row without a name", {"ROWS": "ROW(.name = 0)"}, "has no name"),
    ("a row without a unit", {"ROWS": "ROW(.unit = 0)"}, "x has no unit"),
    ("a row without a doc", {"ROWS": "ROW(.doc = 0)"}, "x has no doc"),
    ("a row without a source", {"ROWS": "ROW(.source = 0)"}, "x has no source"),
    ("a name at no address", {"ROWS": "ROW(.name = (const char *)8)"}, CRASH),
    ("a doc at no address", {"ROWS": "ROW(.doc = (const char *)8)"}, CRASH),
    ("a doc without an end", {"BEFORE": "static char long_doc[1 << 20]; __attribute__((constructor)) static void b(void) { __builtin_memset(long_doc, 'x', sizeof long_doc - 1); }", "ROWS": "ROW(.doc = long_doc)"}, "doc of more than 2000 characters"),
    ("a name of 1 MB", {"BEFORE": "static char long_name[1 << 20]; __attribute__((constructor)) static void b(void) { __builtin_memset(long_name, 'x', sizeof long_name - 1); }", "ROWS": "ROW(.name = long_name)"}, "name of more than 2000 characters"),
    ("a name that is taken", {"ROWS": 'ROW(.name = "rowid")'}, "cannot be called"),
    ("a name with letters that are none", {"ROWS": 'ROW(.name = "\\x1b[2J")'}, "cannot be called"),
    ("the same name twice", {"ROWS": "ROW() ROW()"}, "already"),
    ("a row outside of the struct", {"ROWS": "ROW(.offset = 1 << 30)"}, "x lies outside of the struct of the parameters"),
    ("a row that begins before the struct", {"ROWS": "ROW(.offset = (size_t)-8)"}, "x lies outside of the struct of the parameters"),
    ("a row that ends behind the struct", {"ROWS": "ROW(.offset = sizeof(struct p) - 4)"}, "x lies outside of the struct of the parameters"),
    ("a row of a type that does not exist", {"ROWS": "ROW(.type = 99)"}, "x has the type 99"),
    ("a row of a pattern", {"ROWS": "ROW(.type = DSE_TYPE_PATTERN)"}, "x has the type"),
    ("a range of nothing", {"ROWS": "ROW(.min = 2)"}, "x has the range 2 to 1"),
    ("a range of no numbers", {"ROWS": "ROW(.min = NAN)"}, "x has the range"),
    ("no choices", {"ROWS": "ROW(.type = DSE_TYPE_ENUM, .offset = offsetof(struct p, choice))"}, "x has nothing to choose from"),
    ("choices without an end", {"BEFORE": 'static const char *all[100000]; __attribute__((constructor)) static void b(void) { for (int i = 0; i < 100000; i++) all[i] = "x"; }', "ROWS": "ROW(.type = DSE_TYPE_ENUM, .choices = all, .offset = offsetof(struct p, choice))"}, "x has more than 2000 choices"),
    ("choices by a function that spins", {"BEFORE": "static const char *const *all(void) { static volatile int n; for (;;) n++; return 0; }", "ROWS": "ROW(.type = DSE_TYPE_ENUM, .choices_of = all, .offset = offsetof(struct p, choice))"}, LONG),
    ("choices at no address", {"ROWS": "ROW(.type = DSE_TYPE_ENUM, .choices = (const char *const *)8, .offset = offsetof(struct p, choice))"}, CRASH),
    ("a catalog that does not exist", {"ROWS": "ROW(.type = DSE_TYPE_REF, .kind = 1000, .offset = 0)"}, "is of catalog 1000"),
    ("a table in itself", {"PARAMS": "", "BEFORE": 'static const struct dse_param params[2] = {{.type = DSE_TYPE_EMBED, .name = "x", .embed = params}, DSE_PARAM_END};'}, "stand inside each other; at most 8"),
    ("a table at no address", {"PARAMS": "", "BEFORE": "static const struct dse_param params[1];", "MEMBERS": ".params = (const struct dse_param *)8,"}, CRASH),
    ("an embedded table that is not there", {"ROWS": '{.type = DSE_TYPE_EMBED, .name = "x"},'}, "is not there"),
    ("a table without an end", {"PARAMS": "", "BEFORE": 'static struct dse_param params[100000]; __attribute__((constructor)) static void b(void) { for (int i = 0; i < 100000; i++) params[i] = (struct dse_param){.type = DSE_TYPE_F64, .name = "x", .unit = "", .doc = "x", .source = "", .max = 1}; }'}, "more than 2000 rows"),
    ("1,900 parameters", {"PARAMS": "", "BEFORE": 'static struct dse_param params[1901]; static char names[1900][8]; __attribute__((constructor)) static void b(void) { for (int i = 0; i < 1900; i++) { __builtin_sprintf(names[i], "p%d", i); params[i] = (struct dse_param){.type = DSE_TYPE_F64, .name = names[i], .unit = "", .doc = "x", .source = "", .max = 1}; } }'}, "at most 1,800"),
    ("1,700 parameters", {"PARAMS": "", "BEFORE": 'static struct dse_param params[1701]; static char names[1700][8]; __attribute__((constructor)) static void b(void) { for (int i = 0; i < 1700; i++) { __builtin_sprintf(names[i], "p%d", i); params[i] = (struct dse_param){.type = DSE_TYPE_F64, .name = names[i], .unit = "", .doc = "x", .source = "", .max = 1}; } }'}, None),
    ("no metrics", {"METRICS": "DSE_METRIC_END"}, ANY),
    ("metrics outside of the struct", {"MEMBERS": ".metrics_size = 8,"}, "lies outside of the struct of the metrics, which has 8 bytes"),
    ("parameters outside of the struct", {"MEMBERS": ".params_size = 8,"}, "lies outside of the struct of the parameters, which has 8 bytes"),
    ("parameters of 2^60 bytes", {"MEMBERS": ".params_size = (size_t)1 << 60,"}, "at most 1048576"),
    ("metrics of 2^60 bytes", {"MEMBERS": ".metrics_size = (size_t)1 << 60,"}, "at most 1048576"),
    ("equations of 2^60 bytes", {"MEMBERS": ".equations_size = (size_t)1 << 60,"}, "at most 1048576"),
    ("a metric of a mean that does not exist", {"METRICS": 'DSE_METRIC_EMBED(struct m, common, struct dse_common, dse_common_metrics), {.type = DSE_TYPE_F64, .name = "y", .unit = "", .doc = "x", .source = "", .mean = 77}, DSE_METRIC_END'}, "y has the mean 77"),
    ("no name", {"MEMBERS": ".name = 0,"}, "is no identifier"),
    ("a name that is empty", {"MEMBERS": '.name = "",'}, "is no identifier"),
    ("a name that is a folder", {"MEMBERS": '.name = "../x",'}, "is no identifier"),
    ("the name of a model that is there", {"MEMBERS": '.name = "lad",'}, "there is a model lad already"),
    ("a model's name that is taken", {"MEMBERS": '.name = "sqlite_x",'}, "cannot be called"),
    ("no title", {"MEMBERS": ".title = 0,"}, "lacks"),
    ("a title at no address", {"MEMBERS": ".title = (const char *)8,"}, CRASH),
    ("no estimate", {"MEMBERS": ".estimate = 0,"}, "lacks"),
    ("no parameters", {"MEMBERS": ".params = 0,"}, "lacks"),
    ("a parameter of the event level that is not there", {"MEMBERS": '.event_level_only = (const char *const[]){"nothing", 0},'}, ""),
    ("trends without an end", {"BEFORE": 'static struct dse_trend all[100000]; __attribute__((constructor)) static void b(void) { for (int i = 0; i < 100000; i++) all[i] = (struct dse_trend){.param = "x", .metric = "y"}; }', "MEMBERS": ".trends = all,"}, "more than 2000 trends"),
    ("a trend of no metric", {"MEMBERS": '.trends = (const struct dse_trend[]){{.param = "x"}, {0}},'}, "a trend has no metric"),
    ("techniques without an end", {"BEFORE": 'static struct dse_technique all[100000]; __attribute__((constructor)) static void b(void) { for (int i = 0; i < 100000; i++) all[i] = (struct dse_technique){"x", "y", 0}; }', "MEMBERS": ".techniques = all,"}, "more than 2000 techniques"),
    ("units without an end", {"BEFORE": 'static struct dse_unit all[100000]; __attribute__((constructor)) static void b(void) { for (int i = 0; i < 100000; i++) all[i] = (struct dse_unit){"x", "_x", 0}; }', "MEMBERS": ".units = all,"}, "more than 2000 units"),
    ("another ABI", {"PLUGIN": "{99, DSE_HEADERS, DSE_PLUGIN_SIZES, (const struct dse_model *const[]){&dse_model_mine, 0}}"}, "ABI version 99"),
    ("other headers", {"PLUGIN": '{DSE_PLUGIN_ABI, "0", DSE_PLUGIN_SIZES, (const struct dse_model *const[]){&dse_model_mine, 0}}'}, "other headers"),
    ("no headers", {"PLUGIN": "{DSE_PLUGIN_ABI, 0, DSE_PLUGIN_SIZES, (const struct dse_model *const[]){&dse_model_mine, 0}}"}, CRASH),
    ("no sizes", {"PLUGIN": "{DSE_PLUGIN_ABI, DSE_HEADERS, 0, (const struct dse_model *const[]){&dse_model_mine, 0}}"}, CRASH),
    ("other sizes", {"PLUGIN": '{DSE_PLUGIN_ABI, DSE_HEADERS, (const struct dse_plugin_size[]){{"struct dse_model", 8}, {0}}, (const struct dse_model *const[]){&dse_model_mine, 0}}'}, "has 8 bytes in the plug-in"),
    ("no models", {"PLUGIN": "{DSE_PLUGIN_ABI, DSE_HEADERS, DSE_PLUGIN_SIZES, 0}"}, "has no model"),
    ("a list of no models", {"PLUGIN": "{DSE_PLUGIN_ABI, DSE_HEADERS, DSE_PLUGIN_SIZES, (const struct dse_model *const[]){0}}"}, "has no model"),
    ("models at no address", {"PLUGIN": "{DSE_PLUGIN_ABI, DSE_HEADERS, DSE_PLUGIN_SIZES, (const struct dse_model *const[]){(const struct dse_model *)8, 0}}"}, CRASH),
    ("the same model 10,000 times", {"BEFORE": "extern const struct dse_model *all[10001];", "PLUGIN": "{DSE_PLUGIN_ABI, DSE_HEADERS, DSE_PLUGIN_SIZES, all};\nconst struct dse_model *all[10001]; __attribute__((constructor)) static void b(void) { for (int i = 0; i < 10000; i++) all[i] = &dse_model_mine; }"}, "there is a model mine already"),
    ("300 models", {"BEFORE": "extern const struct dse_model *all[301];", "PLUGIN": '{DSE_PLUGIN_ABI, DSE_HEADERS, DSE_PLUGIN_SIZES, all};\nconst struct dse_model *all[301]; static struct dse_model each[300]; static char names[300][8]; __attribute__((constructor)) static void b(void) { for (int i = 0; i < 300; i++) { __builtin_sprintf(names[i], "m%d", i); each[i] = dse_model_mine; each[i].name = names[i]; all[i] = &each[i]; } }'}, "as many as fit"),
    ("memory of 4 GiB that nobody touches", {"BEFORE": "char much[(size_t)1 << 32];"}, ANY),
    ("memory of 1 GiB a thread", {"BEFORE": "__thread char much[(size_t)1 << 30];"}, ANY),
]

# What is loaded, and then hurts: how `dse test-model` ends.
CALLS = [
    ("check spins", {"CHECK": "static volatile int n; for (;;) n++"}, "takes too long; at most 0.8 s"),
    ("check sleeps", {"BEFORE": "#include <unistd.h>\n", "CHECK": "for (;;) pause()"}, "takes too long; at most 0.8 s"),
    ("estimate spins", {"ESTIMATE": "static volatile int n; for (;;) n++"}, "takes too long; at most 0.8 s"),
    ("estimate fills memory", {"BEFORE": "#include <stdlib.h>\n#include <string.h>\n", "ESTIMATE": "for (;;) memset(malloc(1 << 24), 1, 1 << 24)"}, "; at most"),
    ("estimate exits", {"BEFORE": "#include <stdlib.h>\n", "ESTIMATE": "exit(0)"}, "a plug-in ended the program"),
    ("estimate sets nothing", {"ESTIMATE": ""}, ""),
    ("estimate sets no numbers", {"ESTIMATE": "*(struct dse_common *)m = (struct dse_common){.tokens_per_s = NAN, .bound = 99}"}, ""),
    ("estimate sets infinities", {"ESTIMATE": "*(struct dse_common *)m = (struct dse_common){.tokens_per_s = INFINITY, .latency_us = -INFINITY}"}, ""),
]


def put(path, data):
    with open(path, "wb") as file: file.write(data)


def truncated(base):
    n = len(base)
    for size in (0, 1, 3, 4, 5, 15, 16, 51, 52, 63, 64, 65, 100, 119, 120, 121, 500, 1000, 2000, 4000, 4095, 4096, 4097, 6000, 8000, 8192, 10000, 12000, n // 2, n - 4000, n - 1000, n - 64, n - 1):
        if 0 <= size < n: yield f"{size} of its {n} bytes", base[:size]


FIELDS = [  # of the head of an ELF file: name, where, how, values
    ("class", 4, "B", (0, 1, 3)), ("order of bytes", 5, "B", (0, 2)), ("version", 6, "B", (0, 99)), ("system", 7, "B", (99,)), ("type", 16, "H", (0, 1, 2, 4, 0xffff)), ("machine", 18, "H", (0, 3, 40)),
    ("place of segments", 32, "Q", (0, 1, 1 << 40, (1 << 64) - 1)), ("place of sections", 40, "Q", ((1 << 64) - 1,)), ("size of the head", 52, "H", (0, 0xffff)), ("size of a segment", 54, "H", (0, 1, 0xffff)),
    ("number of segments", 56, "H", (0, 1, 0xffff)),
]
SEGMENT = [("type", 0, "I", (0, 2, 3, 7)), ("place", 8, "Q", (1, 1 << 40, (1 << 64) - 4096)), ("address", 16, "Q", (1, 1 << 46)), ("bytes in the file", 32, "Q", (0, 1 << 40, (1 << 64) - 1)), ("bytes in memory", 40, "Q", (0, 1 << 45, (1 << 64) - 1)), ("alignment", 48, "Q", (0, 3, 1 << 40))]


def broken(base):
    for name, at, kind, values in FIELDS:
        for value in values: yield f"{name} {value:#x}", base[:at] + struct.pack("<" + kind, value) + base[at + struct.calcsize(kind):]
    at = struct.unpack_from("<Q", base, 32)[0]
    for k in (0, 1):
        for name, off, kind, values in SEGMENT:
            place = at + 56 * k + off
            for value in values[:2 if k else None]: yield f"segment {k}: {name} {value:#x}", base[:place] + struct.pack("<" + kind, value) + base[place + struct.calcsize(kind):]
    seed = 1
    for i in range(30):  # bytes anywhere
        data = bytearray(base)
        for _ in range(64):
            seed = (seed * 6364136223846793005 + 1442695040888963407) % (1 << 64)
            data[64 + (seed >> 33) % (len(data) - 64)] = seed >> 56
        yield f"64 of its bytes are noise, {i}", bytes(data)


def make_constructors(add, build):
    def begin(what): return build.plugin("begin.so", BEGIN + what, build.base())

    for name, what, says, *waits in CONSTRUCTORS:
        add("constructors", name, lambda: begin(f"__attribute__((constructor)) static void begin(void) {{ {what} }}\n"), says, waits=bool(waits))
    chooses = "static void *which(void) { spin(); return 0; }\nvoid chosen(void) __attribute__((ifunc(\"which\")));\nvoid (*volatile use)(void) = chosen;\n"
    add("constructors", "chooses a function for ever", lambda: begin(chooses), LONG)
    needed = build.plugin("libneeded.so", BEGIN + "__attribute__((constructor)) static void begin(void) { sleeper(0); }\nint needed;\n", None)
    needs = build.plugin("needs.so", "extern int needed; int *needs(void) { return &needed; }\n", build.base(), needed, "-Wl,-rpath," + os.getcwd())
    add("constructors", "needs another that sleeps", needs, LONG, waits=True)
    os.remove(needed)
    add("constructors", "needs another that is not there", needs, "cannot be loaded")


def make_copies(add, build):
    """Plug-ins that were good once."""
    with open(build.plugin("good.so", "int nothing;\n", build.base()), "rb") as file: base = file.read()
    for kind, makes in (("truncated", truncated), ("broken", broken)):
        for name, data in makes(base):
            put("file.so", data)
            add(kind, name, "./file.so", ANY, evaluate=False)
    os.remove("file.so")


def make_no_files(add):
    links = [("a link to itself", "file.so"), ("a link to nothing", "nowhere"), ("zeros without end", "/dev/zero"), ("noise without end", "/dev/urandom"), ("a folder", "/tmp"), ("a program", "/bin/true")]
    for name, target in links:
        os.symlink(target, "file.so")
        add("files", name, "./file.so", "")
        os.remove("file.so")
    os.mkfifo("file.so")
    add("files", "a pipe that nobody writes to", "./file.so", "no regular file")
    os.remove("file.so")
    for mib, says in ((200, "cannot be loaded"), (300, "has 300 MiB; at most 256"), (20000, "has 20000 MiB; at most 256")):
        with open("file.so", "wb") as file: file.truncate(mib << 20)
        add("files", f"{mib} MiB of nothing", "./file.so", says)


def make_other_files(add, build):
    for name, data in (("text", b"not a plug-in\n"), ("a script", b"#!/bin/sh\nsleep 100\n"), ("an archive", b"!<arch>\n" + b"x" * 1000), ("a script of a linker", b"GROUP ( libc.so.6 )\n")):
        put("file.so", data)
        add("files", name, "./file.so", "cannot be loaded")
    for name, text, says in (("no plug-in", "int nothing;\n", "no symbol dse_plugin"), ("a function for a plug-in", "void dse_plugin(void) {}\n", ""), ("a number for a plug-in", "int dse_plugin = 1;\n", "")):
        add("files", name, lambda: build.plugin("file.so", text, None), says)


def make(add, build):
    make_constructors(add, build)
    for name, defines, says in TABLES: add("tables", name, lambda: build.model("table.so", defines), says, evaluate=False)
    for name, defines, says in CALLS: add("calls", name, lambda: build.model("call.so", defines), says, command="test-model")
    make_copies(add, build)
    make_no_files(add)
    make_other_files(add, build)
