#!/bin/bash
# The commands that README.md shows work and make its pictures, and the files it links to are there.
# Usage: tests/readme_commands.bash <binary> <root> <scratch folder>
set -euo pipefail
PATH=$(cd "$(dirname "$1")" && pwd):$PATH
export MORTISE=$2
fail() { echo "$*" >&2; exit 1; }

for file in $(grep -o ']([^)#]*' "$MORTISE/README.md" | cut -c 3- | grep -v '^https\?:'); do
  [[ -e $MORTISE/$file ]] || fail "README.md links to $file, which is not there"
done
for picture in $(grep -o '^!\[.*]([^)]*' "$MORTISE/README.md" | sed 's/.*](//'); do
  (($(stat -c %s "$MORTISE/$picture") < 150000)) || fail "$picture is above 150 kB"
done

rm -rf "$3"
mkdir -p "$3"
cd "$3"
count=0
while read -r line; do
  if [[ $line == node* ]] && ! { command -v node && command -v chromium; } > /dev/null; then continue; fi
  status=0
  bash -c "$line" > output 2>&1 || status=$?
  expected=0
  if [[ $line == *"check "*--graph* ]]; then expected=2; fi  # the arm is free
  ((status == expected)) || fail "$line: exit status $status
$(cat output)"
  count=$((count + 1))
done < <(awk '/^<!-- commands -->$/ {on = 1} on && /^(mortise|node) /; on && /^$/ {exit}' "$MORTISE/README.md")
((count >= 8)) || fail "README.md has only $count commands"
for file in linkage.toml report.svg fixed.toml run.csv plot.svg page.html runs/summary.csv; do
  [[ -s $file ]] || fail "the commands of README.md do not make $file"
done
cmp report.svg "$MORTISE/docs/pictures/report.svg" || fail "docs/pictures/report.svg is not what the command makes"
