import type { Client } from '../client/call.ts'
import type { Context } from './context.ts'
import { CliError } from '../base/errors.ts'
import { isLive } from '../client/auth/service-info.ts'
import { printable } from '../base/text.ts'

export type Dangerous = {
  /** What is about to happen, as a sentence without its end: "suspend Acme". */
  what: string
  /** Any of these has to be typed; the first one is asked for. */
  words: readonly (string | null)[]
  /** Whether the command line named its target in full, and not by a part of an id. */
  isExact: boolean
  yes: boolean
}

/**
 * Before something that hurts a real merchant: in live mode a person has to type what names it, and a program has to say
 * `--yes` and name its target in full. In the sandbox nothing is asked.
 * @throws {CliError} CONFIRMATION_NEEDED or NOT_CONFIRMED, exit code 2; nothing has been changed then
 */
export async function confirmInLiveMode(context: Context, client: Client, danger: Dangerous): Promise<void> {
  if (await isLive(client)) await confirm(context, danger)
}

/**
 * The same where it is known that the mode is live.
 * @throws {CliError} CONFIRMATION_NEEDED or NOT_CONFIRMED, exit code 2
 */
export async function confirm(context: Pick<Context, 'io' | 'paint'>, danger: Dangerous): Promise<void> {
  const { io } = context
  const isAsked = io.stdin.isTTY && io.stderr.isTTY
  if (!danger.isExact && !isAsked)
    throw needed(danger, 'in live mode a part of an id is not enough for that', 'the whole id, and --yes')
  if (danger.yes) return
  if (!isAsked)
    throw needed(
      danger,
      'in live mode that asks first, and there is no terminal to ask at',
      'the same command with --yes',
    )
  await ask(context, danger)
}

async function ask({ io, paint }: Pick<Context, 'io' | 'paint'>, { what, words }: Dangerous): Promise<void> {
  const accepted = words.filter((word) => word !== null && word !== '')
  io.stderr.write(
    `${paint('red', 'LIVE')}: this will ${printable(what)}.\nType ${printable(accepted.join(' or '))} to go on: `,
  )
  const typed = (await io.stdin.readLine())?.trim()
  if (typed !== undefined && accepted.includes(typed)) return
  throw new CliError('NOT_CONFIRMED', `not confirmed, so nothing was changed (${what})`, {
    hint: `the same command, and then ${printable(accepted.join(' or '))}\nwithout being asked: the same command with --yes`,
  })
}

function needed({ what }: Dangerous, why: string, hint: string): CliError {
  return new CliError('CONFIRMATION_NEEDED', `this would ${what}; ${why}`, { hint })
}
