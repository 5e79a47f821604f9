import type { ServiceFlags } from '../base/command-hints.ts'
import { isSetIn } from '../base/environment-variables.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import { isAtTerminal } from '../base/io.ts'
import type { Io } from '../base/io.ts'

/**
 * Asks whether to sign in again with a second factor, at the service and with the profile of the rejected command, and does.
 * @param run runs another command line of svc
 * @returns whether the person is signed in again
 */
export async function signInAgain(
  io: Io,
  run: (words: readonly string[]) => Promise<ExitCode>,
  { apiUrl, profile, stateDir }: ServiceFlags = {},
): Promise<boolean> {
  // A token of the environment counts for more than any sign-in.
  if (!isAtTerminal(io) || isSetIn(io.env, 'SVC_TOKEN')) return false
  io.stderr.write('Sign in now, and repeat the command? [Y/n] ')
  const answer = (await io.stdin.readLine())?.trim().toLowerCase()
  if (answer === undefined || !['', 'y', 'yes'].includes(answer)) return false
  const where = Object.entries({ 'api-url': apiUrl, profile, 'state-dir': stateDir })
  const flags = where.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]))
  return (await run(['login', '--second-factor', ...flags])) === EXIT.ok
}
