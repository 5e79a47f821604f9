import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'

/** What went wrong, in the service's words, with what to try where it is known. */
export function errorText(error: unknown): string {
  if (!(error instanceof CliError)) return error instanceof Error ? error.message : String(error)
  const { hint } = error.options
  return hint === undefined ? error.message : `${error.message}\nTry: ${hint}`
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof CliError && error.options.exit === EXIT.signedOut
}

/** The inputs that an error is about, as the service calls them. */
export function fieldsOf(error: unknown): string[] {
  if (!(error instanceof CliError)) return []
  // What was not even sent is named as the command line names it: `--drop-callback: must be a share`.
  const [, flag] = /^(?:--)?([a-z-]+): /.exec(error.message) ?? []
  const named = error.code === 'USAGE' && flag !== undefined ? [flag.replaceAll('-', '_')] : []
  return [...(error.options.fields ?? []).map(({ path }) => path), ...named]
}
