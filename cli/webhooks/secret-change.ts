import { z } from 'zod'
import { durationText } from '../../src/lib/duration.ts'
import { endSecretOverlap, rotateWebhookSecret } from '../../src/wire/secrets.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import type { RotatedSecret } from '../../src/wire/secrets.ts'
import { ChangeOptions, change } from '../kit/change.ts'
import type { Client } from '../client/call.ts'
import type { Dangerous } from '../kit/confirm.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { keepWebhookSecret, serviceFile, stateOfMerchant } from '../client/service-state.ts'
import { shortTime } from '../base/text.ts'
import { warn } from '../kit/warn.ts'
import { mustBeWritten } from '../output/flush.ts'
import { effectOfRotation } from './secret-effects.ts'
import { overlapLines } from './secret-view.ts'

export const RotateOptions = ChangeOptions.extend({
  overlap: z.string().optional(),
  discardCurrent: z.boolean().default(false),
})

export async function rotate(
  context: Context,
  { options }: CommandInput<z.infer<typeof RotateOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  const body = bodyOf(options)
  const rotated = await change(context, client, rotateWebhookSecret, {
    input: { body },
    options,
    effect: options.dryRun
      ? await effectOfRotation(client, options.overlap ?? OVERLAP, options.discardCurrent)
      : undefined,
    danger: dangerOf(client, 'replace the secret that webhooks are signed with', options),
  })
  if (rotated === undefined) return undefined
  // The secret is shown this once: whatever comes of the file, it has been printed.
  printRotated(context, rotated)
  const isKept = tellStateFile(context, client, rotated)
  const lost = isKept ? `it is in ${serviceFile(context.stateDir)} alone` : 'the new secret is lost, and signs already'
  // Where an overlap runs, the secret before goes on signing, and only the one that is lost is to go.
  const again = rotated.previous_expires_at === null ? 'svc secret rotate' : 'svc secret rotate --discard-current'
  const hint = isKept ? undefined : again
  await mustBeWritten(context.io, lost, { hint })
  tellOverlap(context, rotated)
  return undefined
}

/** `svc listen` and scripts read the secret of the merchant of svc.json from there. @returns whether it stands there now */
function tellStateFile(context: Context, { apiUrl, credentials }: Client, rotated: RotatedSecret): boolean {
  const { stateDir } = context
  const state = stateOfMerchant(stateDir, { apiUrl, merchant: credentials.merchant })
  if (state === undefined) return false
  const file = serviceFile(stateDir)
  try {
    keepWebhookSecret(stateDir, state, rotated.webhook_signing_secret)
    if (!context.print.isMachine) context.note(`${file} has it as well.`)
    return true
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    warn(context, `${file} still has the secret before, for it can't be written (${why})`, 'svc down\nsvc up')
    return false
  }
}

export async function endOverlap(context: Context, { options }: CommandInput<ChangeOptions>): Promise<CommandResult> {
  const client = context.client()
  const what = 'end the overlap: receivers that hold the secret before reject webhooks from now on'
  const ended = await change(context, client, endSecretOverlap, {
    input: {},
    options,
    effect: `this would ${what}`,
    danger: dangerOf(client, what, options),
  })
  if (ended === undefined) return undefined
  context.print.record({ item: ended, id: ended.masked_secret, lines: overlapLines(ended) })
  return undefined
}

function bodyOf({
  overlap,
  discardCurrent,
}: z.infer<typeof RotateOptions>): OperationInput<typeof rotateWebhookSecret>['body'] {
  if (overlap !== undefined && discardCurrent)
    throw usageError('--discard-current keeps the end of the overlap that runs: leave --overlap out')
  if (discardCurrent) return { discard_current: true }
  return overlap === undefined ? {} : { overlap_seconds: secondsOf(overlap) }
}

/** Where nothing is said of it. */
const OVERLAP = '24h'

/** As the contract has it, which says seconds. */
const OVERLAP_MAX_S = 604_800

function secondsOf(overlap: string): number {
  const seconds = durationOf(overlap, '--overlap') / 1000
  if (!Number.isInteger(seconds))
    throw usageError(`--overlap: ${overlap} is no whole number of seconds`, '--overlap 1h')
  if (seconds > OVERLAP_MAX_S)
    throw usageError(`--overlap: must be at most ${durationText(OVERLAP_MAX_S * 1000)}`, 'svc secret rotate --help')
  return seconds
}

/** The merchant is named by whoever acts for it, so there is no part of an id to get wrong. */
function dangerOf({ credentials }: Client, what: string, { yes }: ChangeOptions): Dangerous {
  const { merchant } = credentials
  return { what, words: [merchant?.realm ?? null, merchant?.clientId ?? null], isExact: true, yes }
}

function printRotated({ print }: Context, rotated: RotatedSecret): void {
  print.record({
    item: rotated,
    id: rotated.masked_secret,
    lines: [['New secret', rotated.webhook_signing_secret], ...overlapLines(rotated).slice(1)],
  })
}

function tellOverlap({ print, note }: Context, { previous_expires_at: until }: RotatedSecret): void {
  if (print.isMachine) return
  note('\nKeep the secret now: it is shown this once.')
  note(
    until === null
      ? 'Receivers need it at once: the one before signs no more.'
      : `Receivers that hold the one before go on verifying; give them this one before ${shortTime(until)}.`,
  )
}
