/** The script that each shell evaluates; all call `forge __complete` with the words typed so far. */
export const completionScripts: Record<string, string> = {
  bash: `_forge() {
  local IFS=$'\\n'
  COMPREPLY=($(forge __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _forge forge`,
  zsh: `#compdef forge
_forge() {
  local -a found
  found=("\${(@f)$(forge __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(\${found:#})
  if (( \${#found} )); then compadd -- "\${found[@]}"; else _files; fi
}
compdef _forge forge`,
  fish: `complete -c forge -f -a '(forge __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
complete -c forge -s f -l file -r -F
complete -c forge -s o -l output -r -F`,
}
