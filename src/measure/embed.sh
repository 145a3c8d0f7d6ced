#!/bin/sh
# A text file as a constant of C: embed.sh FILE NAME HEADER.
printf '#include "%s"\n\nconst char %s[] =\n' "$3" "$2"
sed -e 's/[\\"]/\\&/g' -e 's/^/    "/' -e 's/$/\\n"/' "$1"
echo '    ;'
