import { getWebhookSecret, rotateWebhookSecret } from '../../src/wire/secrets.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { shortTime } from '../base/text.ts'
import { wouldRefuse } from '../client/would-refuse.ts'

/**
 * What a rotation would come to (decision 37).
 * @param overlap how long the secret before goes on signing, as a duration
 * @throws {CliError} exit code 7 while an overlap runs, and 2 for what needs one where none does
 */
export async function effectOfRotation(client: Client, overlap: string, discardCurrent: boolean): Promise<string> {
  const { previous_expires_at: until } = (await call(client, getWebhookSecret, { query: {} })).body
  if (until !== null && !discardCurrent)
    throw wouldRefuse(client, rotateWebhookSecret, {
      input: {},
      refusal: {
        code: 'SECRET_OVERLAP_RUNNING',
        status: 409,
        message: `the secret was rotated, and the previous one signs until ${until}`,
      },
    })
  if (until === null && discardCurrent) {
    const message = 'is only possible during the overlap of a rotation, and none is running'
    throw wouldRefuse(client, rotateWebhookSecret, {
      input: {},
      refusal: {
        code: 'VALIDATION_FAILED',
        status: 400,
        message: `discard_current: ${message}`,
        fields: [{ path: 'discard_current', code: 'INVALID', message }],
      },
    })
  }
  if (until !== null)
    return `this would replace the newest secret, and keep the one before until its end, ${shortTime(until)}`
  return Number.parseInt(overlap, 10) === 0
    ? 'this would replace the secret at once: receivers that hold the one before reject webhooks then'
    : `this would make a new secret; the one before signs as well for ${overlap}`
}
