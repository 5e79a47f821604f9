import type { Command } from 'commander'
import { CliError, withHint } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'

/** A value that is wrong, where nothing says what to try: the command's help says what it may be. */
export function withHelp(error: unknown, command: Command): unknown {
  if (!(error instanceof CliError) || error.options.hint !== undefined || !isOfValue(error)) return error
  return withHint(error, `svc ${pathOf(command)} --help`)
}

function isOfValue({ code, options }: CliError): boolean {
  return options.exit === EXIT.usage && /^(USAGE|VALIDATION_FAILED|UK\.OBIE\.Field\..+)$/.test(code)
}

function pathOf(command: Command): string {
  const { parent } = command
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`
}
