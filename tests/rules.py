"""Rules of CONTRIBUTING.md that neither compiler nor clang-tidy knows: python3 tests/rules.py ROOT

- A line of C or C++ has at most 132 columns.
- Arrows between the rooms of src/ go down only: a file includes its own room, <dse/...>, and rooms further down in the line
  "cli -> ... -> base" of CONTRIBUTING.md, which is read from there. Rooms between two arrows do not know each other. Every room
  stands in that line once, and in the table below it.
- Files of a room that call each other, over others or not, are a circle. Few are allowed, and a header of the room has the
  reason of each: "Files that call each other: a, b, c: why." Who calls whom is read from names that are defined and used.
- Numbers are read by base/text.h alone, without the locale: no strtod, atof or scanf of numbers elsewhere.
- A function has a name that can be said aloud: none is called of, is, no or us.
- A model, and a header of include/dse, includes nothing but <dse/...>, its own folder and what the system has.
- What works on operators asks their roles and traits: only the rooms workload, toml_model (whose files may ask for a name) and cli
  (which prints names) compare the name of an operator. A breach is a name that is compared or taken apart: in src/ that of a
  variable `op`, in models/ any `->name` or `.name` but a catalog entry's. A comparison whose last argument is an operator's name
  in quotes is one, too. A name that is first copied to a variable of another name is not seen.

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
ARROWS_ROW = re.compile(r"\| ((?:`\w+`(?:, )?)+) \|")  # of the table of rooms
CIRCLES_MOST = 5
CIRCLE_NOTE = re.compile(r"Files that call each other: ([\w,\s*]+): ")
UNREAD = re.compile(r'__attribute__\(\(.*?\)\)|/\*.*?\*/|"(?:\\.|[^"\\])*"|//[^\n]*', re.S)
DEFINED = re.compile(r"^(?!static\b|typedef\b|extern\b)[a-z_][^\n;={}#]*?\b(\w+)(?:\([^;{}]*\)\n\{|(?:\[[^\]\n]*\])* =)", re.M)
USED = re.compile(r"(?<![.>\w])(?<!struct )(?<!union )(?<!enum )[a-z]\w*")  # neither a member nor a tag
OWN = re.compile(r"^static [^\n;={}]*?\b(\w+)(?:\(|\[|;| =)", re.M)
LOCALE = re.compile(r"\b(strto(?:d|f|ld)|atof|v?s?f?scanf)\s*\(")
READ_NUMBERS = ("src/base/text.c",)
ROLES_FILE = "src/workload/expand_roles.c"
OPERATOR = re.compile(r'\bOP\("(\w+)"\)')
ASK_NAMES = ("src/workload/", "src/toml_model/", "src/cli/")
COMPARISON = re.compile(r"\b(?:strn?(?:case)?cmp|strstr|strchr|strspn|memcmp)\s*(?=\()")
NAME_OF_OP = r"\bop(?:\[[^\]]*\])?(?:->|\.)name\b"
NAMED = {"src/": NAME_OF_OP, "include/": NAME_OF_OP, "models/": r"(?<!\bentry)(?:->|\.)name\b"}
UNSAID = re.compile(r"(?:[a-z_]\w*[ *]+)+(of|is|no|us)\([^;]*$")
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


def table_breaches(root, levels):
    """The table of rooms has each of them in one row."""
    with open(os.path.join(root, ARROWS_FILE), encoding="utf-8") as text:
        rows = [re.findall(r"`(\w+)`", row[1]) for line in text if (row := ARROWS_ROW.match(line))]
    told = [room for row in rows for room in row]
    for room in sorted({room for level in levels for room in level}):
        if told.count(room) != 1:
            yield ARROWS_FILE, 1, 1, f'"{room}" has {told.count(room)} rows in the table of rooms, needed: one'


def circles(calls):
    """Sets of more than one file that reach each other."""
    reach = {file: set(to) for file, to in calls.items()}
    for through in calls:
        for file in calls:
            if through in reach[file]: reach[file] |= reach[through]
    found = {frozenset(other for other in calls if other in reach[file] and file in reach[other]) for file in calls}
    return [circle for circle in found if len(circle) > 1]


def circle_breaches(root, files):
    """Circles of files within a room, by the names that they define and use."""
    rooms, notes = {}, {}
    for file in files:
        if not file.startswith("src/") or not file.endswith((".c", ".h")): continue
        with open(os.path.join(root, file), encoding="utf-8") as opened: text = opened.read()
        room, name = file.split("/")[1:3]
        if name.endswith(".h"):
            for note in CIRCLE_NOTE.finditer(text):
                notes[room, frozenset(re.findall(r"\w+", note[1]))] = file, text.count("\n", 0, note.start()) + 1
            continue
        text = UNREAD.sub(" ", text)
        used = set(USED.findall(text)) - set(OWN.findall(text))
        rooms.setdefault(room, {})[name[:-2]] = set(DEFINED.findall(text)), used
    found = []
    for room, of in sorted(rooms.items()):
        calls = {file: {other for other in of if other != file and of[other][0] & used} for file, (_, used) in of.items()}
        found += [(room, circle) for circle in circles(calls)]
    for room, circle in found:
        if not any(room == noted and circle <= named for noted, named in notes):
            yield f"src/{room}", 1, 1, (f"{', '.join(sorted(circle))} call each other, allowed: arrows in one direction, "
                                        'or "Files that call each other: ...: why" in a header')
    for (room, circle), (file, line) in notes.items():
        if not any(room == there and found_circle <= circle for there, found_circle in found):
            yield file, line, 1, f"{', '.join(sorted(circle))} do not call each other, needed: no such note"
    if len(found) > CIRCLES_MOST:
        yield "src", 1, 1, f"{len(found)} circles of files, allowed: {CIRCLES_MOST}"


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


def read_operators(root):
    """The names of all operators, without "draft_"."""
    with open(os.path.join(root, ROLES_FILE), encoding="utf-8") as text:
        return OPERATOR.findall(text.read())


def arguments(text, begin):
    """What stands in the parentheses that begin there."""
    depth = 0
    for at in range(begin, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0: return text[begin + 1:at]
    return ""


def name_breaches(file, text, operators):
    """Places where the name of an operator decides something."""
    folder = next((folder for folder in NAMED if file.startswith(folder)), None)
    if not folder or file.startswith(ASK_NAMES): return
    named = re.compile(NAMED[folder])
    found = {call.start() for call in COMPARISON.finditer(text) if named.search(arguments(text, call.end()))}
    found |= {use.start() for use in re.finditer(named.pattern + r"\s*(?:\[|\+|[=!]=)", text)}
    quoted = re.compile(rf',\s*"(?:draft_)?(?:{"|".join(operators)})"\s*\)')
    found |= {use.start() for use in quoted.finditer(text)}
    places = {text.count("\n", 0, at) + 1: at - text.rfind("\n", 0, at) for at in sorted(found, reverse=True)}
    for line, column in sorted(places.items()):
        yield (file, line, column, "the name of an operator is compared or taken apart, "
               "allowed: op->role (enum dse_op_role) and the traits of struct dse_op")


def file_breaches(root, file, level_of, operators):
    with open(os.path.join(root, file), encoding="utf-8") as opened:
        text = opened.read()
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > COLUMNS:
            yield file, number, COLUMNS + 1, f"a line of {len(line)} columns, allowed: {COLUMNS}"
        foreign = locale_breach(file, line)
        if foreign:
            yield file, number, 1, foreign
        unsaid = UNSAID.match(line)
        if unsaid:
            yield file, number, unsaid.start(1) + 1, f"a function is called {unsaid[1]}, allowed: a name that says what it gives"
        include = INCLUDE.match(line)
        wrong = include and include_breach(file, include[1], include[2], level_of)
        if wrong:
            yield file, number, include.start(1) + 1, wrong
    yield from name_breaches(file, text, operators)


def main(root):
    files = files_of_git(root)
    if files is None:
        files = files_of_folders(root)
    files = sorted({file for file in files if file.endswith(ENDINGS)})
    levels, number = read_levels(root)
    level_of = {room: i for i, level in enumerate(levels) for room in level}
    breaches = [*room_breaches(levels, number, files), *table_breaches(root, levels), *circle_breaches(root, files)]
    operators = read_operators(root)
    if not operators:
        breaches.append((ROLES_FILE, 1, 1, 'no names of operators are there, needed: OP("...") for each role'))
    for file in files:
        breaches += file_breaches(root, file, level_of, operators)
    for file, line, column, wrong in breaches:
        print(f"{file}:{line}:{column}: error: {wrong}")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
