import { durationText, parseDuration } from '../../src/lib/duration.ts'
import { endSecretOverlap, getWebhookSecret, rotateWebhookSecret } from '../../src/wire/secrets.ts'
import { usageError, messageOf } from '../base/errors.ts'
import { shortTime } from '../base/text.ts'
import { action, ownSubject } from '../kit/action.ts'
import type { Subject, ReplyBody } from '../kit/action.ts'
import type { Client } from '../client/call.ts'
import { call } from '../client/call.ts'
import { keepRotated, printOverlap, rotatedLines } from './secret-view.ts'

/** The secret that the merchant's webhooks are signed with, and who the merchant is. */
type Secret = ReplyBody<typeof getWebhookSecret> & { merchant: Client['credentials']['merchant'] }

const secret: Subject<Secret> = {
  ...ownSubject('secret', 'the signing secret', getWebhookSecret),
  async find(client) {
    const { body } = await call(client, getWebhookSecret, { query: {} })
    return { thing: { ...body, merchant: client.credentials.merchant }, isExact: true }
  },
  // The caller is the merchant, so there is no part of an id to get wrong.
  confirmBy: ({ merchant }) => [merchant?.realm ?? null, merchant?.clientId ?? null],
}

const OVERLAP = '24h'
/** As the contract has it, which says seconds. */
const OVERLAP_MAX_S = 604_800

/** `1h` as the seconds that requests have. */
function secondsOf(overlap: string): string {
  const seconds = msOf(overlap) / 1000
  if (!Number.isInteger(seconds))
    throw usageError(`--overlap: invalid duration "${overlap}": use whole seconds`, '--overlap 1h')
  if (seconds > OVERLAP_MAX_S)
    throw usageError(`must be at most ${durationText(OVERLAP_MAX_S * 1000)}`, 'svc secret rotate --help')
  return String(seconds)
}

function msOf(text: string): number {
  try {
    return parseDuration(text)
  } catch (error) {
    throw usageError(messageOf(error), '--overlap 1h')
  }
}

const rotate = action({
  command: 'secret rotate',
  summary: 'Rotate the signing secret',
  details: 'The new secret is printed once. During the overlap, webhooks carry the signatures of both secrets.',
  examples: ['svc secret rotate', 'svc secret rotate --overlap 1h', 'svc secret rotate --discard-current'],
  subject: secret,
  flags: {
    overlap: {
      value: 'duration',
      summary: 'How long the previous secret signs as well, 0s to 7d (24h)',
      member: 'overlap_seconds',
      read: secondsOf,
    },
    discardCurrent: { summary: 'Replace a new secret lost during an overlap; the previous one stays' },
  },
  operation: rotateWebhookSecret,
  request: (_id, { overlap, discardCurrent = false }) => {
    if (overlap !== undefined && discardCurrent)
      throw usageError('--discard-current keeps the end of the overlap that runs: leave --overlap out')
    if (discardCurrent) return { body: { discard_current: true } }
    return { body: overlap === undefined ? {} : { overlap_seconds: Number.parseInt(overlap, 10) } }
  },
  effect: ({ previous_expires_at: until }, { overlap }) => {
    if (until !== null) return `replace the newest secret, and keep the one before until its end, ${shortTime(until)}`
    if (overlap === '0') return 'replace the secret at once: receivers that hold the one before reject webhooks then'
    const time = overlap === undefined ? OVERLAP : durationText(Number.parseInt(overlap, 10) * 1000)
    return `make a new secret that webhooks are signed with; the one before signs as well for ${time}`
  },
  done: () => 'made a new signing secret',
  confirm: true,
  key: { letter: 'S', label: 'rotate secret' },
  shownOnce: rotatedLines,
  view: keepRotated,
})

const endOverlap = action({
  command: 'secret end-overlap',
  summary: 'End the overlap of a rotation',
  details: 'From then on only the newest secret signs.',
  examples: ['svc secret end-overlap'],
  subject: secret,
  flags: {},
  operation: endSecretOverlap,
  effect: () => 'end the overlap: receivers that hold the secret before reject webhooks from now on',
  done: () => 'ended the overlap of the secrets',
  confirm: true,
  view: printOverlap,
})

export const SECRET_ACTIONS = [rotate, endOverlap] as const
