#!/bin/bash
# The completion offers the subcommands and options, and the manual names all of them.
# Usage: tests/shell.bash <binary> <root>
set -euo pipefail
PATH=$(dirname "$1"):$PATH
source "$2/tools/shell/mortise.bash"
completions() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _mortise
  echo "${COMPREPLY[*]}"
}
expect() { [[ $1 == "$2" ]] || { echo "expected '$2', got '$1'" >&2; exit 1; }; }
expect "$(completions mortise ch)" check
expect "$(completions mortise check --gr)" --graph
expect "$(completions mortise run x --integrator do)" dopri5
expect "$(completions mortise list jo)" joints
expect "$(completions mortise new pend)" pendulum

manual=$(tr -d '\\' < "$2/docs/mortise.1")
commands=$(mortise --help | sed -n '/^Subcommands:/,/^[A-Z]/s/^  \([a-z]\+\) .*/\1/p')
for command in $commands; do
  grep -q "\.B[I]* *\"*$command" <<< "$manual" || { echo "docs/mortise.1 has no command $command" >&2; exit 1; }
  for option in $(mortise "$command" --help | grep -o -- ' --[a-z]\+\|,--[a-z]\+' | tr -d ' ,'); do
    grep -q -- "$option" <<< "$manual" || { echo "docs/mortise.1 has no $option of $command" >&2; exit 1; }
  done
done
[[ -n $commands ]]
