# Completion of the command mortise for bash: source this file, or install it as bash-completion/completions/mortise.
_mortise() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$(mortise --help 2> /dev/null | sed -n '/^Subcommands:/,/^[A-Z]/s/^  \([a-z]\+\) .*/\1/p') --help --version" -- "$word")
    return
  fi
  case $before in
    --integrator)
      mapfile -t COMPREPLY < <(compgen -W "$(mortise list integrators 2> /dev/null)" -- "$word")
      return
      ;;
    -o | --output | --checkpoint | --resume | --graph)
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return
      ;;
  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(mortise "$command" --help 2> /dev/null | grep -o -- '--[a-z_-]\+')" -- "$word")
    return
  fi
  case $command in
    list) mapfile -t COMPREPLY < <(compgen -W "bodies joints forces sensors integrators models" -- "$word") ;;
    new) mapfile -t COMPREPLY < <(compgen -W "$(mortise list models 2> /dev/null)" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -X '!*.@(toml|csv|urdf|sdf|world|xml)' -- "$word"; compgen -d -- "$word") ;;
  esac
}
complete -o filenames -F _mortise mortise
