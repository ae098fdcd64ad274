#!/bin/bash
# Every mistake of tests/mistakes is refused by the compiler with our sentence, and the user's line, within the first 15
# lines of what it prints.  A first line "// SENTENCE: ..." tells what to look for, "// MISTAKE" marks the line.
# Usage: mistakes.bash <compiler> <source folder> <include folders...>
set -u
compiler=$1 root=$2
shift 2
flags=(-std=c++20 -fsyntax-only -I"$root/tests/mistakes")
for folder; do flags+=(-isystem "$folder"); done
if ! echo '#include "common.h"' | "$compiler" "${flags[@]}" -x c++ -; then echo "the headers do not compile"; exit 1; fi
passed=0 failed=0
for file in "$root"/tests/mistakes/*.cpp; do
  name=$(basename "$file" .cpp)
  sentence=$(sed -n '1s|^// SENTENCE: ||p' "$file")
  line=$(grep -n '// MISTAKE' "$file" | cut -d: -f1)
  if output=$("$compiler" "${flags[@]}" "$file" 2>&1); then
    echo "$name: compiles"
    ((++failed))
    continue
  fi
  head=$(head -15 <<< "$output")
  if grep -qF "$sentence" <<< "$head" && grep -qE "$name\.cpp:$line:" <<< "$head"; then
    ((++passed))
  else
    printf '%s: "%s" or line %s is not within 15 lines:\n%s\n' "$name" "$sentence" "$line" "$head"
    ((++failed))
  fi
done
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
