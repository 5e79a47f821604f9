import { request } from 'undici'
import type { App } from '../app.ts'

/** Why a text message was not accepted. The gateway's response is not stored: it may repeat numbers and text. */
export type TextFailure = 'connection_failed' | 'timed_out' | `gateway_refused (${number})`

/** The gateway's timeout. */
const TIMEOUT_MS = 10_000

/** The gateway's response body is discarded; longer ones are cut off. */
const ANSWER_BYTES_MAX = 64 * 1024

/**
 * Sends a text message through the gateway (config `SVC_SMS_URL`): a POST of `{id, to, text}`, accepted by 2xx. The id
 * is the same at every attempt, so that the gateway can detect repeats. Redirects are not followed, because the text
 * contains a link.
 * @returns the failure, or null on success
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
