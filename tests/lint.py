"""Which files need clang-format and clang-tidy, and the checks of them that tests/run.py runs beside the tests.

tests/lint.clean is the record of contents that were clean: a line "HASH FILE" for each source, and one for each tool. A file
is clean if its content, those of the headers that it includes and the tools are the recorded ones; so a fresh clone, where
nothing differs from HEAD, lints what was committed without lint and nothing else. What this machine found clean since stands
in lint.json of the build folder. `./dev lint` checks whatever neither knows, and writes the record when all is clean.
"""
import hashlib
import json
import os
import re
import sys
import time

RECORD = "tests/lint.clean"
FOLDERS = ("src", "include", "models", "tests", "bench", "fuzz")
TIDY = ("src/", "models/")  # clang-tidy reads these and the headers that they include
INCLUDED_FROM = ("include", "src", "models")
OWN = ("rules", "links", "sentences", "equations")  # scripts of tests/, over everything at once


def digest(data):
    return hashlib.blake2b(data, digest_size=8).hexdigest()


class Check:
    """One command over some files. `said` is what it complained of."""
    suite, cached, full = "lint", False, False

    def __init__(self, lint, tool, command, files):
        self.lint, self.tool, self.command, self.files = lint, tool, command, files
        self.title = f"lint {tool}" + (f" {files[0]}" if len(files) == 1 else f" of {len(files)} files" if files else "")
        self.name, self.said, self.seconds, self.cpu = self.title, "", 0.0, 0.0

    def packages(self):
        return [] if self.tool in OWN else [self.tool]

    def run(self, _samples, _patience, running):
        """Returns "passed" or "failed": a tool that is not there has seen nothing."""
        start = time.time()
        try: process = running.start(self.command, cwd=self.lint.root)
        except FileNotFoundError:
            self.said = f"there is no {self.command[0]}: ./dev deps {self.tool}"
            return "failed"
        said = process.stdout.read().decode(errors="replace")
        status = process.wait()
        running.ended(process)
        self.seconds = time.time() - start
        self.said = "\n".join(line for line in said.splitlines() if not re.match(r"\d+ warnings? generated|Suppressed \d+|Use -header-filter", line))
        if status: return "failed"
        for file in self.files: self.lint.found_clean(self.tool, file)
        return "passed"


class Lint:
    def __init__(self, root, build):
        self.root, self.build = root, build
        self.hashes, self.includes = {}, {}
        for folder in FOLDERS:
            for where, folders, names in os.walk(os.path.join(root, folder)):
                folders[:] = [f for f in folders if f != "node_modules"]
                for name in names:
                    if name.endswith((".c", ".h")): self.read(os.path.relpath(os.path.join(where, name), root))
        self.recorded = self.read_record()
        self.own_file = os.path.join(build, "lint.json")
        self.own = set()
        if os.path.exists(self.own_file):
            with open(self.own_file, encoding="utf-8") as file: self.own = set(json.load(file))

    def read(self, file):
        with open(os.path.join(self.root, file), "rb") as source: data = source.read()
        self.hashes[file] = digest(data)
        self.includes[file] = re.findall(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', data, re.M)

    def tools(self):
        """What tools check, and by which rules: other rules make every file new."""
        found = {}
        for tool, rules in (("clang-format", ".clang-format"), ("clang-tidy", ".clang-tidy")):
            with open(os.path.join(self.root, rules), "rb") as file: found[tool] = digest(file.read())
        return found

    def read_record(self):
        path = os.path.join(self.root, RECORD)
        if not os.path.exists(path): return {}
        with open(path, encoding="utf-8") as file:
            return {line.split()[1]: line.split()[0] for line in file if line.strip() and not line.startswith("#")}

    def headers(self, file, seen=None):
        """The headers of the tree that a file includes, directly or not."""
        seen = set() if seen is None else seen
        for name in self.includes[file]:
            name = name.decode(errors="replace")
            for place in (os.path.dirname(file), *INCLUDED_FROM):
                header = os.path.normpath(os.path.join(place, name))
                if header in self.hashes and header not in seen:
                    seen.add(header)
                    self.headers(header, seen)
        return seen

    def parts(self, tool, file):
        """Everything that the verdict of a tool on a file depends on: name -> hash."""
        files = [file, *sorted(self.headers(file))] if tool == "clang-tidy" else [file]
        return {tool: self.tools()[tool], **{f: self.hashes[f] for f in files}}

    def key(self, tool, file):
        return digest(json.dumps([tool, file, self.parts(tool, file)], sort_keys=True).encode())

    def is_clean(self, tool, file):
        parts = self.parts(tool, file)
        return all(self.recorded.get(name) == value for name, value in parts.items()) or self.key(tool, file) in self.own

    def found_clean(self, tool, file):
        self.own.add(self.key(tool, file))

    def save(self):
        now = {self.key(tool, file) for tool in self.tools() for file in self.hashes if tool == "clang-format" or self.is_tidied(file)}
        os.makedirs(self.build, exist_ok=True)
        with open(self.own_file, "w", encoding="utf-8") as file: json.dump(sorted(self.own & now), file)

    @staticmethod
    def is_tidied(file):
        return file.startswith(TIDY) and file.endswith(".c")

    def checks(self, every=False):
        """What must be run: every file, or those that nobody has seen clean as they are."""
        rules = [Check(self, own, [sys.executable, os.path.join("tests", own + ".py"), self.root], []) for own in OWN]
        form = [file for file in sorted(self.hashes) if every or not self.is_clean("clang-format", file)]
        tidy = [file for file in sorted(self.hashes) if self.is_tidied(file) and (every or not self.is_clean("clang-tidy", file))]
        checks = [Check(self, "clang-format", ["clang-format", "--dry-run", "-Werror", *form[i:i + 100]], form[i:i + 100])
                  for i in range(0, len(form), 100)]
        checks += [Check(self, "clang-tidy", ["clang-tidy", "-p", self.build, "--quiet", "--warnings-as-errors=*", file], [file]) for file in tidy]
        return rules + checks

    @staticmethod
    def summary(checks):
        tidy = sum(check.tool == "clang-tidy" for check in checks)
        form = sum(len(check.files) for check in checks if check.tool == "clang-format")
        return f"{tidy} files by clang-tidy, {form} by clang-format" if tidy or form else "the rules, and no file has changed since it was clean"

    def write_record(self):
        """Every file must be clean. Returns whether the record is another now."""
        lines = [f"# Contents that clang-format and clang-tidy found clean: HASH FILE. Written by ./dev lint; see tests/lint.py.\n"]
        lines += [f"{value} {name}\n" for name, value in sorted({**self.tools(), **self.hashes}.items())]
        path = os.path.join(self.root, RECORD)
        before = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
        with open(path, "w", encoding="utf-8") as file: file.write("".join(lines))
        return "".join(lines) != before
