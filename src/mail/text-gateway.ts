import { request } from 'undici'
import type { App } from '../app.ts'

/** Why a text message was not handed over. What a gateway says is not kept: it may repeat numbers and words. */
export type TextFailure = 'connection_failed' | 'timed_out' | `gateway_refused (${number})`

/** How long a gateway may take to answer. */
const TIMEOUT_MS = 10_000

/** A gateway's answer is thrown away; one that is longer is cut off. */
const ANSWER_BYTES_MAX = 64 * 1024

/**
 * Hands a text message to the gateway (config `SVC_SMS_URL`): a POST of `{id, to, text}`, which 2xx accepts. The id is the
 * same at every attempt, so that a gateway can tell a repeat. Redirects are not followed, for the text carries a link.
 * @returns why it was not taken; null where it was
 */
export async function sendText(
  { url, token }: NonNullable<App['config']['sms']>,
  text: { id: string; to: string; text: string },
  timeoutMs: number = TIMEOUT_MS,
): Promise<TextFailure | null> {
  try {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(text),
      signal: AbortSignal.timeout(timeoutMs),
    })
    await body.dump({ limit: ANSWER_BYTES_MAX }).catch(() => undefined)
    return statusCode >= 200 && statusCode < 300 ? null : `gateway_refused (${statusCode})`
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? 'timed_out' : 'connection_failed'
  }
}
