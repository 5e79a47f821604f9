import { localCommand } from '../../kit/command.ts'

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const
type Shell = (typeof SHELLS)[number]

/*
 * Each script passes the words up to the cursor to `svc __complete`, as they are and never through eval, and offers what
 * comes back: a line for each candidate with its meaning behind a tab, `:files` or `:dirs` for the shell's own.
 */

/** Needs no bash-completion, and runs in the bash 3.2 of macOS. */
const BASH = `# bash completion for svc. To have it in this shell:  source <(svc completion bash)
_svc_completion() {
  local cur=\${COMP_WORDS[COMP_CWORD]} line name
  case $cur in '=' | ':') cur= ;; esac
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$cur")
        ;;
      :dirs)
        compopt -o filenames 2>/dev/null
        while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -d -- "$cur")
        ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(command svc __complete bash "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null </dev/null)
}
complete -F _svc_completion svc
`

const ZSH = `#compdef svc
# zsh completion for svc. To have it in this shell, after compinit:  source <(svc completion zsh)
_svc() {
  local -a lines named
  local line more
  lines=("\${(@f)$(command svc __complete zsh "\${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
  for line in $lines; do
    case $line in
      :files | :dirs) more=$line ;;
      *$'\\t'*) named+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
      ?*) named+=("\${line//:/\\\\:}") ;;
    esac
  done
  (( $#named )) && _describe -t svc svc named
  [[ $more == :files ]] && _files
  [[ $more == :dirs ]] && _files -/
  return 0
}
if [[ \${funcstack[1]} == _svc ]]; then _svc "$@"; else compdef _svc svc; fi
`

const FISH = `# fish completion for svc. To have it in this shell:  svc completion fish | source
function __svc_completion
    set -l words (commandline -opc) (commandline -ct)
    for line in (command svc __complete fish $words[2..-1] 2>/dev/null </dev/null)
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct)
            case ':dirs'
                __fish_complete_directories (commandline -ct)
            case ':*'
            case '*'
                echo $line
        end
    end
end
complete -c svc -f -a '(__svc_completion)'
`

const POWERSHELL = `# PowerShell completion for svc. To have it in this shell:  svc completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName svc -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  $shell = if ($wordToComplete -eq '') { 'powershell-empty' } else { 'powershell' }
  foreach ($line in @(& svc __complete $shell @words 2>$null)) {
    if ($line -eq ':files' -or $line -eq ':dirs') {
      [System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete)
    }
    elseif (-not $line.StartsWith(':')) {
      $value, $meaning = $line -split [char]9, 2
      if (-not $meaning) { $meaning = $value }
      [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $meaning)
    }
  }
}
`

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL }

export const completion = localCommand({
  command: 'completion',
  summary: 'Print the completion script of a shell',
  details: `To have it in every new shell:
  bash        echo 'source <(svc completion bash)' >> ~/.bashrc
  zsh         echo 'source <(svc completion zsh)' >> ~/.zshrc
              below the line with compinit; or a file named _svc in a directory of fpath
  fish        svc completion fish > ~/.config/fish/completions/svc.fish
  powershell  Add-Content $PROFILE 'svc completion powershell | Out-String | Invoke-Expression'

It completes commands, options, their choices, files, and what the service has: payments, merchants, disputes,
deliveries. It asks the service for at most 0.3 seconds, and never asks you anything.`,
  examples: ['svc completion bash', 'svc completion zsh > ~/.zfunc/_svc'],
  flags: { shell: { value: 'shell', summary: 'Name of the shell', positional: true, required: true, choices: SHELLS } },
  run({ io }, input) {
    const shell = SHELLS.find((known) => known === input.shell)
    if (shell !== undefined) io.stdout.write(SCRIPTS[shell])
  },
})
