"""Rules of CONTRIBUTING.md that neither compiler nor clang-tidy knows: python3 tests/rules.py ROOT

- A line of C or C++ has at most 132 columns.
- Arrows between the rooms of src/ go down only: a file includes its own room, <dse/...>, and rooms further down in the line
  "cli -> ... -> base" of CONTRIBUTING.md, which is read from there. Rooms between two arrows do not know each other. Every room
  stands in that line once.
- Numbers are read by base/text.h alone, without the locale: no strtod, atof or scanf of numbers elsewhere.
- A model, and a header of include/dse, includes nothing but <dse/...>, its own folder and what the system has.

Each breach is a line FILE:LINE:COL: error: what is wrong, what is allowed. The exit status is 1 when there is one.
"""

import os
import re
import subprocess
import sys

COLUMNS = 132
FOLDERS = ("src", "models", "include", "tests", "bench", "fuzz")
ENDINGS = (".c", ".h", ".cc", ".cpp")
ARROWS_FILE = "CONTRIBUTING.md"
ARROWS_LINE = re.compile(r"\s*cli -> .*-> base\s*$")
LOCALE = re.compile(r"\b(strto(?:d|f|ld)|atof|v?s?f?scanf)\s*\(")
READ_NUMBERS = ("src/base/text.c",)
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def files_of_git(root):
    """What git knows below FOLDERS, or would add; None: this is no checkout."""
    if not os.path.exists(os.path.join(root, ".git")):
        return None
    command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *FOLDERS]
    try:
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        return None
    return [file for file in listed if os.path.isfile(os.path.join(root, file))]


def files_of_folders(root):
    """All files below FOLDERS, but for what builds leave there."""
    for folder in FOLDERS:
        for place, inside, names in os.walk(os.path.join(root, folder)):
            inside[:] = [name for name in inside if not name.startswith("build") and name != "node_modules"]
            for name in names:
                yield os.path.relpath(os.path.join(place, name), root)


def read_levels(root):
    """The rooms by level, 0 at the top, and the number of the line that says so."""
    with open(os.path.join(root, ARROWS_FILE), encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            if ARROWS_LINE.match(line):
                return [[room.strip() for room in level.split(",")] for level in line.split("->")], number
    return [], 1


def room_breaches(levels, number, files):
    line = 'the line "cli -> ... -> base"'
    if not levels:
        yield ARROWS_FILE, number, 1, f"{line} is not there, needed: the rooms of src/ in their order"
        return
    named = [room for level in levels for room in level]
    rooms = {file.split("/")[1] for file in files if file.startswith("src/")}
    for room in sorted({*named, *rooms}):
        if named.count(room) != (room in rooms):
            yield (ARROWS_FILE, number, 1, f'"{room}" stands {named.count(room)} times in {line}, '
                   "allowed: each folder of src/ once, and nothing else")


def include_breach(file, mark, path, level_of):
    """What is wrong with this include in a file; None: it is allowed."""
    folder, room = file.split("/")[:2]
    first = path.split("/")[0] if "/" in path else None  # None: the file's own folder, or what the build makes
    if mark == "<" and first not in level_of or mark == '"' and first is None:
        return None
    if folder in ("models", "include"):
        return f"{path} included in {folder}/, allowed: <dse/...>, files of the same folder, headers of the system"
    if folder != "src" or room == first or room not in level_of or level_of[room] < level_of.get(first, -1):
        return None
    below = [name for name, level in level_of.items() if level > level_of[room]]
    return f"{path} included in room {room}, allowed: {', '.join([room, *below])}, <dse/...>"


def locale_breach(file, line):
    """Numbers depend on no locale: what reads one asks base/text.h, and what is called from outside has base/plain_numbers.h."""
    if not file.startswith(("src/", "models/")) or file in READ_NUMBERS: return None
    found = LOCALE.search(line)
    return found and f"{found[0]} reads numbers by the locale, allowed: text_parse_f64, text_scan_f64"


def file_breaches(root, file, level_of):
    with open(os.path.join(root, file), encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            length = len(line.rstrip("\n"))
            if length > COLUMNS:
                yield file, number, COLUMNS + 1, f"a line of {length} columns, allowed: {COLUMNS}"
            foreign = locale_breach(file, line)
            if foreign:
                yield file, number, 1, foreign
            include = INCLUDE.match(line)
            wrong = include and include_breach(file, include[1], include[2], level_of)
            if wrong:
                yield file, number, include.start(1) + 1, wrong


def main(root):
    files = files_of_git(root)
    if files is None:
        files = files_of_folders(root)
    files = sorted({file for file in files if file.endswith(ENDINGS)})
    levels, number = read_levels(root)
    level_of = {room: i for i, level in enumerate(levels) for room in level}
    breaches = list(room_breaches(levels, number, files))
    for file in files:
        breaches += file_breaches(root, file, level_of)
    for file, line, column, wrong in breaches:
        print(f"{file}:{line}:{column}: error: {wrong}")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
