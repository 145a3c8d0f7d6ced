#!/usr/bin/env python3
"""Loads models that were made to hurt, one after the other, and measures each: hostile_models.py toml|plugins DSE [-- FLAG...]

Each must be refused with exit status 2 and a message that names its file, or be accepted, within SECONDS and MIB; what is
accepted is also evaluated once. The time is that of processors, so that a busy machine fails nothing; a model that waits is
measured by the clock, and gets three tries.
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import hostile_plugins  # noqa: E402
import hostile_toml  # noqa: E402

SECONDS, MIB = 2, 1024  # at most, for one model
SAID = 300_000  # bytes of what is said of one: 100 errors with the lines that they quote
PATIENCE = 15  # times SECONDS of the clock, before it is stopped


class Result:
    def __init__(self, status, said, cpu, wall, mib):
        self.status, self.said, self.cpu, self.wall, self.mib = status, said, cpu, wall, mib


def run(command, patience_s):
    """The command in a session of its own, of which nothing is left afterwards. Status "late": it did not end by itself."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        late = False
        step = 0.001
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid: break
            if time.monotonic() - begin > patience_s and not late:
                late = True
                os.killpg(child.pid, signal.SIGKILL)
            time.sleep(step)
            step = min(2 * step, 0.02)
        wall = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        try: os.killpg(child.pid, signal.SIGKILL)  # children that a plug-in has left
        except ProcessLookupError: pass
        err.seek(0)
        said = err.read().decode(errors="replace")
    return Result("late" if late else child.returncode, said, usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


class Tester:
    def __init__(self, options):
        self.dse, self.seconds, self.mib, self.every = options.dse, options.seconds, options.mib, options.every
        self.wrong, self.kinds, self.names, self.slow = [], {}, set(), []
        self.refused = self.accepted = 0

    def complaint(self, r, file, says, waits, fails=(2,)):
        """What is wrong with how it ended; None: nothing. fails: the exit statuses that say that it is refused."""
        if r.status == "late": return f"has not ended after {PATIENCE * self.seconds:g} s"
        if r.status != 0 and r.status not in fails: return f"exit status {r.status}"
        if r.status == 2 and not any(os.path.basename(f) in r.said for f in (file, os.path.realpath(file))): return "refused without a word of the file"
        if r.status == 2 and says is None: return "refused"
        if r.status == 0 and isinstance(says, str): return "accepted"
        if isinstance(says, str) and says not in r.said: return f"says nothing of \"{says}\""
        return self.too_much(r, waits)

    def too_much(self, r, waits):
        if r.cpu > self.seconds: return f"takes {r.cpu:.1f} s of a processor"
        if waits and r.wall > self.seconds: return f"takes {r.wall:.1f} s"
        if r.mib > self.mib: return f"takes {r.mib:.0f} MiB"
        if len(r.said) > SAID: return f"says {len(r.said)} bytes"
        return None

    def evaluation(self, file, model):
        """What is wrong with how `dse eval` of an accepted model ends."""
        r = run([self.dse, "--plugin", file, "eval", model], PATIENCE * self.seconds)
        if r.status not in (0, 1, 2): why = f"exit status {r.status}"
        elif r.status and not r.said: why = f"exit status {r.status} without a word"
        else: why = self.too_much(r, False)
        return why and f"dse eval {why}: {r.said[:300]}"

    def test(self, kind, name, file, says, waits=False, model="mine", evaluate=True, command="list"):
        """file: its name, or a function that makes it and gives that."""
        title = f"{kind}: {name}"
        assert title not in self.names, title
        self.names.add(title)
        if len(self.names) % self.every: return
        if callable(file): file = file()
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        for attempt in range(3 if waits else 1):
            tests = command == "test-model"
            r = run([self.dse, command, file] if tests else [self.dse, "--plugin", file, "list", "models"], PATIENCE * self.seconds)
            why = self.complaint(r, file, says, waits, (1, 2) if tests else (2,))
            if not why: break
        if r.status == 0: self.accepted += 1
        else: self.refused += 1
        self.slow.append((max(r.cpu, r.wall if waits else 0), r.mib, title))
        if why: self.wrong.append(f"{title}: {why}: {r.said[:600]}")
        elif r.status == 0 and evaluate:
            why = self.evaluation(file, model)
            if why: self.wrong.append(f"{title}: {why}")
        if os.environ.get("HOSTILE_SHOW"): print(f"{title}: status {r.status}, {r.cpu:.2f} s, {r.wall:.2f} s, {r.mib:.0f} MiB{'   WRONG ' + why if why else ''}\n    {r.said.strip()[:200]!r}", flush=True)

    def tell(self):
        for line in self.wrong: print(f"FAILED: {line}")
        print(f"{self.refused + self.accepted} of {len(self.names)} models: {self.refused} refused, {self.accepted} accepted, {len(self.wrong)} wrong; "
              + ", ".join(f"{n} {kind}" for kind, n in self.kinds.items()))
        for seconds, _, title in sorted(self.slow, reverse=True)[:5]: print(f"  {seconds:.2f} s  {title}")
        for _, mib, title in sorted(self.slow, key=lambda s: -s[1])[:3]: print(f"  {mib:.0f} MiB  {title}")
        return 1 if self.wrong else 0


def test_toml(tester, options):
    file = "mine.toml"

    def add(kind, name, text, says):
        def write():
            with open(file, "wb") as out: out.write(text if isinstance(text, bytes) else text.encode())
            return "./" + file

        model = name.split()[1] if kind == "names" and name.startswith("model ") else "mine"
        tester.test(kind, name, write, says, model=model)

    hostile_toml.make(add)


class Build:
    """Compiles plug-ins, in this folder."""

    def __init__(self, flags):
        before = [f for f in flags if not f.startswith(("-l", "-L"))]
        self.compile = ["cc", "-std=gnu17", "-O1", "-w", "-fPIC", *before]
        self.libraries = [f for f in flags if f.startswith(("-l", "-L"))] + ["-lm", "-lpthread", "-ldl"]

    def object(self, name, text):
        with open(name + ".c", "w", encoding="utf-8") as file: file.write(text)
        subprocess.run([*self.compile, "-c", name + ".c", "-o", name], check=True)
        return name

    def base(self):
        """A model that does no harm."""
        return "mine.o" if os.path.exists("mine.o") else self.object("mine.o", hostile_plugins.MODEL)

    def link(self, file, *parts):
        if os.path.exists(file): os.remove(file)
        subprocess.run(["cc", "-shared", *parts, *self.libraries, "-o", file], check=True)
        return "./" + file

    def plugin(self, file, text, model, *parts):
        return self.link(file, self.object("part.o", text), *([model] if model else []), *parts)

    def model(self, file, defines):
        """The model with these definitions. What has lines of its own stands where its name would."""
        text, before = hostile_plugins.MODEL, ""
        for name, what in defines.items():
            if "\n" in what: text = text.replace(f"#ifdef {name}\n{name}\n", f"#if 1\n{what}\n").replace(f"#ifdef {name}\n", "#if 1\n").replace(f"dse_plugin = {name};", f"dse_plugin = {what}")
            else: before += f"#define {name} {what}\n"
        return self.link(file, self.object("model.o", before + text))


def test_plugins(tester, options):
    hostile_plugins.make(tester.test, Build(options.flags))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=["toml", "plugins"])
    p.add_argument("dse")
    p.add_argument("flags", nargs="*", help="of the compiler, for plug-ins")
    p.add_argument("--seconds", type=float, default=SECONDS)
    p.add_argument("--mib", type=float, default=MIB)
    p.add_argument("--every", type=int, default=1, help="test each of so many only")
    options = p.parse_intermixed_args()
    tester = Tester(options)
    {"toml": test_toml, "plugins": test_plugins}[options.what](tester, options)
    sys.exit(tester.tell())


main()
