import type { RotatedSecret } from '../../src/wire/secrets.ts'
import { messageOf } from '../base/errors.ts'
import { shortTime } from '../base/text.ts'
import type { Client } from '../client/call.ts'
import { keepWebhookSecret, serviceFile, stateOfMerchant } from '../client/service-state.ts'
import type { Context } from '../kit/context.ts'
import { warn } from '../kit/warn.ts'
import { mustBeWritten } from '../output/flush.ts'

type Overlap = { masked_secret: string; rotated_at: string | null; previous_expires_at: string | null }

/** What may be shown of a secret at any time. */
export function overlapLines({ masked_secret, rotated_at, previous_expires_at }: Overlap): [string, string][] {
  return [
    ['Secret', masked_secret],
    ['Rotated', rotated_at === null ? 'never' : shortTime(rotated_at)],
    ['Previous', previous_expires_at === null ? 'not valid any more' : `signs until ${shortTime(previous_expires_at)}`],
  ]
}

export function printOverlap({ print }: Context, overlap: Overlap): void {
  print.record(overlap, overlapLines(overlap), { id: overlap.masked_secret })
}

/**
 * Prints a new secret, which is shown this once, and keeps it where scripts of this machine read it.
 * @throws {CliError} where it could be printed nowhere and is kept nowhere
 */
export async function keepRotated(context: Context, rotated: RotatedSecret): Promise<void> {
  // Whatever comes of the file, it has been printed.
  printRotated(context, rotated)
  const isKept = noteStateFile(context, rotated)
  const lost = isKept ? `it is in ${serviceFile(context.stateDir)} alone` : 'the new secret is lost, and signs already'
  // Where an overlap runs, the secret before stays valid, and only the one that is lost is to go.
  const again = rotated.previous_expires_at === null ? 'svc secret rotate' : 'svc secret rotate --discard-current'
  await mustBeWritten(context.io, lost, { hint: isKept ? undefined : again })
  noteOverlap(context, rotated)
}

/**
 * `svc listen` and scripts read the secret of the merchant of svc.json from there.
 * @returns why it can't stand there; empty where it does, undefined where the file is none of this merchant's
 */
function keptInFile(
  { stateDir, client }: { stateDir: string; client: Client },
  rotated: RotatedSecret,
): string | undefined {
  const { apiUrl, credentials } = client
  const state = stateOfMerchant(stateDir, { apiUrl, merchant: credentials.merchant })
  if (state === undefined) return undefined
  try {
    keepWebhookSecret(stateDir, state, rotated.webhook_signing_secret)
    return ''
  } catch (error) {
    return messageOf(error)
  }
}

function noteStateFile(context: Context, rotated: RotatedSecret): boolean {
  const { stateDir, print, note } = context
  const why = keptInFile({ stateDir, client: context.client() }, rotated)
  const file = serviceFile(stateDir)
  if (why === '' && !print.isMachine) note(`${file} has it as well.`)
  if (why !== undefined && why !== '')
    warn(context, `${file} still has the secret before, for it can't be written (${why})`, 'svc down\nsvc up')
  return why === ''
}

/** The same for the console, which shows it once. */
export function rotatedLines(rotated: RotatedSecret, where: { stateDir: string; client: Client }): string[] {
  const why = keptInFile(where, rotated)
  const file = serviceFile(where.stateDir)
  return [
    rotated.webhook_signing_secret,
    '',
    'Keep the secret now: it is shown this once.',
    overlapText(rotated),
    ...(why === undefined ? [] : [why === '' ? `${file} has it as well.` : `${file} can't be written: ${why}`]),
  ]
}

function overlapText({ previous_expires_at: until }: RotatedSecret): string {
  return until === null
    ? 'Receivers need it at once: the previous one is not valid any more.'
    : `Receivers that hold the one before go on verifying; give them this one before ${shortTime(until)}.`
}

function printRotated({ print }: Context, rotated: RotatedSecret): void {
  print.record(rotated, [['New secret', rotated.webhook_signing_secret], ...overlapLines(rotated).slice(1)], {
    id: rotated.masked_secret,
  })
}

function noteOverlap({ print, note }: Context, rotated: RotatedSecret): void {
  if (print.isMachine) return
  note('\nKeep the secret now: it is shown this once.')
  note(overlapText(rotated))
}
