#!/usr/bin/env python3
"""Builds and runs tests; `./dev test` calls it.

    run.py [--all] [--again] [--list] [NAME...]

Without names it runs the everyday tier: unit tests, bad input and fuzz corpora from build-test (ASan and UBSan), scripts on
build-scripts (a release build), and lint of what changed (lint.py). A test runs as soon as what it needs is built, and a
test that passed is not run again until something that it reads has changed. --all is the full tier: everything runs again,
scripts under sanitizers too, random tests draw all their samples, and every file is linted. A NAME is a test, a suite
(unit, bad, fuzz, scripts, lint) or a pattern of them; tests that are named always run.

The last line is "N passed, N failed, N skipped"; the exit status is 1 if something failed. A test that exits with 77 is
skipped. A script says which Debian packages it needs in a line "# Needs: PACKAGE..."; they are installed before it runs.
"""
import argparse
import difflib
import fnmatch
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback

from lint import Lint

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORES = os.cpu_count() or 1
SLOW_S = 20  # a test that takes longer is named when it ends
SAY_EVERY_S = 20  # a line of progress where there is no terminal
TRAPS = "-fsanitize=float-divide-by-zero,float-cast-overflow"
BUILDS = {  # folder: what meson is told
    "build-test": ["-Dbuildtype=debugoptimized", "-Doptimization=1", "-Dwerror=true", "-Db_sanitize=address,undefined",
                   "-Db_lundef=false", "-Dbench=false", "-Dfuzz=true",
                   f"-Dc_args=-g1 {TRAPS} -fno-sanitize-recover=undefined,float-divide-by-zero,float-cast-overflow",
                   f"-Dc_link_args={TRAPS}"],
    "build-scripts": ["-Dbuildtype=release", "-Doptimization=2", "-Dwerror=true", "-Dbench=true"],
}
SANITIZED, RELEASE = BUILDS
FIRST = ["text", "file", "diag", "num", "wrap"]  # unit tests of the lowest rooms, built before all else
SUITES = {"unit": SANITIZED, "bad": SANITIZED, "fuzz": SANITIZED, "scripts": RELEASE}


def fatal(message, status=2):
    print(f"test: {message}", file=sys.stderr)
    sys.exit(status)


def file_hash(path, known={}):
    """Of what is in a file; a file that has the time and size of before is not read again."""
    status = os.stat(path)
    stamp = (path, status.st_mtime_ns, status.st_size)
    if stamp not in known:
        with open(path, "rb") as file:
            known[stamp] = hashlib.blake2b(file.read(), digest_size=12).hexdigest()
    return known[stamp]


def tree_files():
    """The files of the source tree: in a repository those that it does not ignore."""
    git = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True)
    if git.returncode == 0:
        return sorted(set(git.stdout.decode().split("\0")[:-1]))
    files = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if not f.startswith((".", "build")) and f != "node_modules"]
        files += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    return sorted(files)


def data_hash():
    """Of all that tests read beside programs: every file but sources in C, which are in the programs."""
    digest = hashlib.blake2b(digest_size=12)
    for name in tree_files():
        path = os.path.join(ROOT, name)
        if name.startswith(("src/", "models/", "tests/unit/", "bench/", "fuzz/")) and name.endswith((".c", ".h", ".cc")): continue
        if name == "tests/lint.clean" or not os.path.isfile(path): continue
        digest.update(f"{name}\0{file_hash(path)}\0".encode())
    return digest.hexdigest()


class Test:
    def __init__(self, build, entry, targets):
        self.build = build
        suite = [s.split(":")[-1] for s in entry["suite"]]
        self.suite = suite[0]
        self.full = "full" in suite  # of the full tier alone
        self.name = entry["name"]
        self.title = f"{self.suite}/{self.name}" + (" (sanitized)" if self.suite == "scripts" and build == SANITIZED else "")
        self.command = entry["cmd"]
        self.env = entry["env"]
        self.timeout = entry["timeout"]
        folder = os.path.join(ROOT, build)
        self.outputs = [file for target in entry["depends"] for file in targets[target]["filename"]]
        self.targets = [os.path.relpath(file, folder) for file in self.outputs]
        self.script = next((c for c in self.command if c.endswith(".sh")), None)
        self.needs = self.read_needs()
        self.seconds, self.cpu, self.cached, self.said = 0.0, 0.0, False, ""

    def read_needs(self):
        if not self.script or not os.path.exists(self.script): return []
        with open(self.script, encoding="utf-8") as file:
            return [p for line in file if line.startswith("# Needs:") for p in line.split(":", 1)[1].split()]

    def packages(self):
        return self.needs

    def key(self, data):
        return " ".join([data, *sorted({file_hash(f) for f in self.outputs if os.path.isfile(f)}), *self.command[1:]])

    def matches(self, pattern):
        names = {self.name, "test_" + self.name, self.name + ".sh", self.suite, f"{self.suite}/{self.name}"}
        return any(fnmatch.fnmatchcase(name, pattern) for name in names)

    def run(self, samples, patience, running):
        """Returns "passed", "failed" or "skipped"; what the test said is in self.said. `running` can stop it."""
        env = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1", DSE_TESTS=os.path.join(ROOT, self.build, "shared"), **self.env)
        if samples: env["DSE_SAMPLES"] = "all"
        start = time.time()
        process = running.start(self.command, cwd=os.path.join(ROOT, self.build), env=env)
        late = threading.Timer(self.timeout * patience, os.killpg, (process.pid, signal.SIGKILL))
        late.start()
        self.said = process.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        in_time = late.is_alive()
        late.cancel()
        running.ended(process)
        self.seconds, self.cpu = time.time() - start, usage.ru_utime + usage.ru_stime
        code = os.waitstatus_to_exitcode(status)
        if not in_time: self.said += f"\nstopped after {self.timeout * patience} s"
        elif code < 0: self.said += f"\nkilled by signal {-code} ({signal.Signals(-code).name})"
        return "passed" if code == 0 else "skipped" if code == 77 else "failed"


class Running:
    """The processes that run, each the leader of a group of its own, so that Ctrl-C leaves none behind."""

    def __init__(self):
        self.processes, self.stopped, self.lock = set(), False, threading.Lock()

    def start(self, command, **more):
        with self.lock:
            if self.stopped: raise InterruptedError("stopped")
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       start_new_session=True, **more)
            self.processes.add(process)
        return process

    def ended(self, process):
        with self.lock: self.processes.discard(process)

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.processes:
                try: os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError: pass


class Progress:
    """What is seen while tests run: on a terminal one line that is drawn over, else a line now and then."""

    def __init__(self, total):
        self.total, self.building, self.running = total, "", {}
        self.count = {"passed": 0, "failed": 0, "skipped": 0}
        self.start = self.said = time.time()
        self.terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self.lock = threading.RLock()

    def state(self):
        spent = int(time.time() - self.start)
        parts = [f"{spent // 60}:{spent % 60:02}", f"{sum(self.count.values())} of {self.total} tests"]
        if self.count["failed"]: parts.append(f"{self.count['failed']} failed")
        if self.building: parts.append(self.building)
        now = time.time()
        busy = sorted((begun, title) for title, begun in self.running.items())
        parts += [f"{title} {now - begun:.0f} s" for begun, title in busy]
        return "  ".join(parts)

    def say(self, text):
        with self.lock:
            if self.terminal: sys.stdout.write("\r\033[K")
            print(text, flush=True)
            self.said = time.time()

    def tick(self):
        with self.lock:
            if self.terminal:
                width = os.get_terminal_size().columns
                sys.stdout.write("\r\033[K" + self.state()[:width - 1])
                sys.stdout.flush()
            elif time.time() - self.said >= SAY_EVERY_S:
                self.say(self.state())

    def done(self, title, verdict, seconds, said):
        with self.lock:
            self.running.pop(title, None)
            self.count[verdict] += 1
            if verdict == "failed":
                lines = said.rstrip().splitlines()
                shown = lines if len(lines) <= 80 else lines[:20] + [f"... {len(lines) - 80} lines ..."] + lines[-60:]
                self.say("\n".join([f"FAILED {title}, {seconds:.1f} s", *("    " + line for line in shown)]))
            elif verdict == "skipped":
                self.say(f"skipped {title}: {said.strip().splitlines()[-1] if said.strip() else 'no reason given'}")
            elif seconds >= SLOW_S or sum(self.count.values()) == 1:
                self.say(f"passed {title}, {seconds:.1f} s")


def configure(build):
    """meson setup, anew when the options are others than before. Returns the tests there."""
    folder = os.path.join(ROOT, build)
    options = BUILDS[build]
    stamp = os.path.join(folder, "options.json")
    known = None
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file: known = json.load(file)
    if known != options or not os.path.exists(os.path.join(folder, "build.ninja")):
        print(f"test: configuring {build}", flush=True)
        fresh = ["--wipe"] if os.path.exists(os.path.join(folder, "meson-private")) else []
        done = subprocess.run(["meson", "setup", folder, ROOT, *fresh, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.stdout.write(done.stdout.decode(errors="replace"))
            fatal(f"{build} cannot be configured", 1)
        with open(stamp, "w", encoding="utf-8") as file: json.dump(options, file)
    else:  # meson.build may have changed
        subprocess.run(["ninja", "-C", folder, "build.ninja"], stdout=subprocess.DEVNULL, check=False)
    seen = json.loads(subprocess.run(["meson", "introspect", folder, "--tests", "--targets"], stdout=subprocess.PIPE, check=True).stdout)
    targets = {target["id"]: target for target in seen["targets"]}
    return [Test(build, entry, targets) for entry in seen["tests"]]


class Builder(threading.Thread):
    """Builds one group of targets after the other, and says which are ready."""

    def __init__(self, groups, progress, queue, running):
        super().__init__(daemon=True)
        self.groups, self.progress, self.queue, self.running = groups, progress, queue, running
        self.failed = self.generated = self.finished = False  # generated: the first group, in which are the headers that are made

    def run(self):
        try:
            for build, targets in self.groups:
                if targets: self.build_group(build, targets)
                self.generated = True
        except BaseException:
            self.failed = True
            raise
        finally:
            self.progress.building = ""
            self.finished = True

    def build_group(self, build, targets):
        left = set(targets)
        process = self.running.start(["ninja", "-C", os.path.join(ROOT, build), "-k", "0", "-j", str(CORES), *sorted(left)])
        said, failed = [], False
        for line in process.stdout:
            line = line.decode(errors="replace").rstrip("\n")
            step = re.match(r"\[(\d+)/(\d+)\] (.*)", line)
            if not step:
                said.append(line)
                failed |= line.startswith("FAILED:")
                continue
            if failed: self.complain(build, said)
            elif any("warning:" in text for text in said): self.progress.say("\n".join(said))
            said, failed = [], False
            self.progress.building = f"building {build} {step[1]}/{step[2]}"
            linked = re.match(r"Linking target (\S+)", step[3])
            if linked and linked[1] in left:
                left.discard(linked[1])
                self.queue.ready(build, {linked[1]})
        status = process.wait()
        self.running.ended(process)
        if status == 0: self.queue.ready(build, left)
        else:
            self.complain(build, said)
            self.failed = True

    def complain(self, build, said):
        text = "\n".join(line for line in said if not line.startswith("ninja: Entering"))
        if text.strip(): self.progress.say(f"FAILED to build in {build}\n{text}")


class Installer(threading.Thread):
    """Installs what single tests need while the others are built and run. What cannot be installed, its tests do without."""

    def __init__(self, groups, progress, running):
        super().__init__(daemon=True)
        self.groups, self.progress, self.running = groups, progress, running
        self.missing = {package for group in groups for package in group}

    def run(self):
        try:
            for group in self.groups:
                if group: self.install(sorted(group))
                self.missing -= group
        finally:
            self.missing = set()

    def install(self, packages):
        process = self.running.start([os.path.join(ROOT, "dev"), "deps", *packages])
        said = process.stdout.read().decode(errors="replace").rstrip()
        process.wait()
        self.running.ended(process)
        if said: self.progress.say(said)


class Queue:
    """What is to be run: tests whose programs are built, and checks of lint beside them."""

    def __init__(self, tests, checks, progress):
        self.waiting, self.checks, self.progress = list(tests), list(checks), progress
        self.built = {build: set() for build in BUILDS}
        self.linting, self.lock = 0, threading.Condition()

    def ready(self, build, targets):
        with self.lock:
            self.built[build] |= targets
            self.lock.notify_all()

    def next(self, builder, installer):
        """The next test or check, or None when nothing is left to come."""
        with self.lock:
            while True:
                room = builder.finished or len(self.progress.running) < max(1, CORES // 2)
                installed = [t for t in (self.waiting if room else []) if installer.missing.isdisjoint(t.packages())]
                test = next((t for t in installed if set(t.targets) <= self.built[t.build]), None)
                check = next((c for c in self.checks if installer.missing.isdisjoint(c.packages())), None)
                begun = sum(self.progress.count.values()) > 0 or not self.waiting
                if check and room and builder.generated and begun and (not test or not self.linting):
                    self.linting += 1
                    self.checks.remove(check)
                    return self.begin(check)
                if test:
                    self.waiting.remove(test)
                    return self.begin(test)
                if builder.finished and not installer.missing and not self.checks: return None
                self.lock.wait(0.2)

    def begin(self, task):
        self.progress.running[task.title] = time.time()
        return task


def made_headers():
    """What compilers of lint read and the build makes."""
    models = sorted(name for name in os.listdir(os.path.join(ROOT, "models")) if os.path.isfile(os.path.join(ROOT, "models", name, name + ".toml")))
    return ["include/dse/abi.h"] + [f"models/{name}_closed.h" for name in models]


class Run:
    def __init__(self, options):
        self.options = options
        self.cache_file = os.path.join(ROOT, SANITIZED, "passed.json")
        self.passed, self.results, self.unchanged, self.running = {}, [], 0, Running()
        if os.path.exists(self.cache_file):
            with open(self.cache_file, encoding="utf-8") as file: self.passed = json.load(file)

    def select(self):
        """The tests that are wanted, and whether lint is."""
        if self.options.lint:
            for build in BUILDS: configure(build)
            return [], True
        # Each suite has its build; the full tier runs scripts under sanitizers, too, but for those of the full tier alone.
        tests = [test for build in BUILDS for test in configure(build)
                 if test.build == SUITES[test.suite] or (self.options.all and test.suite == "scripts" and not test.full)]
        if not self.options.names: return [test for test in tests if self.options.all or not test.full], True
        wanted = []
        for pattern in self.options.names:
            found = [test for test in tests if test.matches(pattern)]
            if not found and pattern != "lint":
                near = difflib.get_close_matches(pattern, [test.name for test in tests], 3)
                fatal(f"there is no test \"{pattern}\"" + (f"; near it: {', '.join(near)}" if near else "") + " (./dev test --list)")
            wanted += [test for test in found if test not in wanted]
        return wanted, "lint" in self.options.names

    def groups(self, tests, lint):
        """What to build, in order: the lowest rooms' tests, what scripts need, the rest."""
        def needed(build, some):
            return build, sorted({target for test in some if test.build == build for target in test.targets})
        first = [t for t in tests if t.suite == "unit" and t.name in FIRST]
        groups = [needed(SANITIZED, first), needed(RELEASE, tests), needed(SANITIZED, tests)]
        if lint: groups[0][1].extend(made_headers())
        return groups

    def known(self, test):
        """Did it pass already with everything as it is now?"""
        if self.options.all or self.options.again or self.options.names: return False
        return all(os.path.isfile(f) for f in test.outputs) and self.passed.get(test.title, {}).get("key") == test.key(self.data)

    def work(self, queue, builder, installer, progress):
        while (task := queue.next(builder, installer)) is not None:
            try:
                if isinstance(task, Test) and self.known(task):
                    self.unchanged += 1
                    task.seconds, task.cached = self.passed[task.title]["seconds"], True
                    verdict = "passed"
                else: verdict = task.run(self.options.all, 4 if self.options.all else 2, self.running)
            except Exception:  # of the runner itself: the test has not shown anything
                verdict, task.said = "failed", task.said + "\n" + traceback.format_exc()
            if self.running.stopped: return  # and killed what ran
            if not isinstance(task, Test): queue.linting -= 1
            self.end(task, verdict, progress)

    def end(self, task, verdict, progress):
        progress.done(task.title, verdict, 0 if task.cached else task.seconds, task.said)
        with progress.lock:
            self.results.append((task, verdict))
            if verdict == "passed" and isinstance(task, Test):
                self.passed[task.title] = {"key": task.key(self.data), "seconds": round(task.seconds, 2)}
            else: self.passed.pop(task.title, None)

    def save(self):
        with open(self.cache_file + ".new", "w", encoding="utf-8") as file: json.dump(self.passed, file, indent=0)
        os.replace(self.cache_file + ".new", self.cache_file)

    def watch(self, progress, threads):
        """Until all is done. Ctrl-C stops what runs, and keeps what is known to have passed."""
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            while any(thread.is_alive() for thread in threads):
                progress.tick()
                time.sleep(0.25)
        except KeyboardInterrupt:
            self.running.stop()
            for thread in threads: thread.join(5)
            self.save()
            progress.say(f"interrupted after {sum(progress.count.values())} of {progress.total} tests")
            sys.exit(130)

    def go(self):
        tests, lint = self.select()
        if self.options.list:
            for test in tests: print(test.title)
            return 0
        self.data = data_hash()
        linter = Lint(ROOT, os.path.join(ROOT, SANITIZED))
        checks = linter.checks(every=self.options.all) if lint else []
        # The slowest of the last time first, so that none is left alone at the end.
        tests.sort(key=lambda t: -self.passed.get(t.title, {}).get("seconds", 0))
        progress = Progress(len(tests) + len(checks))
        suites = {}
        for test in tests: suites[test.suite] = suites.get(test.suite, 0) + 1
        say = ", ".join(f"{n} {suite}" for suite, n in sorted(suites.items()))
        print(f"test: {say or 'no tests'}; lint: {linter.summary(checks) if lint else 'not asked for'}", flush=True)
        for build in BUILDS: shutil.rmtree(os.path.join(ROOT, build, "shared"), ignore_errors=True)
        queue = Queue(tests, checks, progress)
        builder = Builder(self.groups(tests, lint), progress, queue, self.running)
        needs = [{p for task in some for p in task.packages()} for some in (checks, tests)]
        installer = Installer(needs, progress, self.running)
        workers = [threading.Thread(target=self.work, args=(queue, builder, installer, progress), daemon=True) for _ in range(CORES)]
        for thread in [installer, builder, *workers]: thread.start()
        self.watch(progress, [installer, builder, *workers])
        return self.sum_up(queue, builder, progress, linter)

    def sum_up(self, queue, builder, progress, linter):
        for test in queue.waiting: self.end(self.unbuilt(test), "failed", progress)
        unknown = progress.total - len(self.results)
        linter.save()
        self.save()
        if self.options.lint and not progress.count["failed"] and linter.write_record(): progress.say("tests/lint.clean is written anew")
        if progress.terminal: sys.stdout.write("\r\033[K")
        ran = [task for task, _ in self.results if not task.cached]
        slow = sorted(ran, key=lambda t: -t.seconds)[:10]
        if len(ran) > 10: print("slowest: " + ", ".join(f"{t.title} {t.seconds:.0f} s" for t in slow))
        failed = sorted(task.title for task, verdict in self.results if verdict == "failed")
        if failed: print("failed: " + ", ".join(failed))
        if self.unchanged: print(f"{self.unchanged} of those that passed did so before and have nothing new to read (--again runs them)")
        spent = int(time.time() - progress.start)
        print(f"{spent // 60} min {spent % 60} s, {sum(t.cpu for t in ran):.0f} s of CPU in tests")
        if unknown: print(f"of {unknown} tests it is not known whether they pass: the runner failed")
        broken = bool((builder.failed or unknown) and not failed)
        count = progress.count
        print(f"{count['passed']} passed, {count['failed'] + broken} failed, {count['skipped']} skipped")
        return 1 if failed or broken else 0

    @staticmethod
    def unbuilt(test):
        test.said = "what it needs was not built"
        return test


def main():
    parser = argparse.ArgumentParser(prog="./dev test", usage="./dev test [--all] [--again] [--list] [NAME...]")
    parser.add_argument("--all", action="store_true", help="the full tier")
    parser.add_argument("--again", action="store_true", help="run what passed before, too")
    parser.add_argument("--list", action="store_true", help="print the names of the tests and run none")
    parser.add_argument("--lint", action="store_true", help="lint alone, and note in tests/lint.clean what is clean")
    parser.add_argument("names", nargs="*", metavar="NAME", help="tests, suites (unit, bad, fuzz, scripts, lint), or patterns of them")
    sys.exit(Run(parser.parse_args()).go())


if __name__ == "__main__":
    main()
