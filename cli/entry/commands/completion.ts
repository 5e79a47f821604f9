import { Argument } from 'commander'
import type { Command } from 'commander'
import type { CommandResult, Runtime } from '../../kit/context.ts'
import { plainAction } from '../../kit/plain-context.ts'
import type { PlainContext } from '../../kit/plain-context.ts'
import { SCRIPTS, SHELLS } from './completion-scripts.ts'

export function addCompletion(command: Command, runtime: Runtime): void {
  command
    .addArgument(new Argument('<shell>', 'Name of the shell').choices(SHELLS))
    .addHelpText('after', HELP)
    .action(plainAction(runtime, completion))
}

const HELP = `
To have it in every new shell:
  bash        echo 'source <(svc completion bash)' >> ~/.bashrc
  zsh         echo 'source <(svc completion zsh)' >> ~/.zshrc
              below the line with compinit; or a file named _svc in a directory of fpath
  fish        svc completion fish > ~/.config/fish/completions/svc.fish
  powershell  Add-Content $PROFILE 'svc completion powershell | Out-String | Invoke-Expression'

It completes commands, options, their choices, files, and what the service has: payments, merchants, disputes,
deliveries. It asks the service for at most 0.3 seconds, and never asks you anything.

Examples:
  svc completion bash
  svc completion zsh > ~/.zfunc/_svc
`

function completion({ io }: PlainContext, args: readonly string[]): CommandResult {
  const shell = SHELLS.find((known) => known === args[0])
  if (shell !== undefined) io.stdout.write(SCRIPTS[shell])
  return undefined
}
