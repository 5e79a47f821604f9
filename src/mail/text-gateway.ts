import type { App } from '../app.ts'
import { postJson } from './post-json.ts'

/** Why a text message was not accepted. The gateway's response is not stored: it may repeat numbers and text. */
export type TextFailure = 'connection_failed' | 'timed_out' | `gateway_refused (${number})`

/** The gateway's timeout. */
const TIMEOUT_MS = 10_000

/**
 * Sends a text message through the gateway (config `SVC_SMS_URL`): a POST of `{id, to, text}`, accepted by 2xx. The id
 * is the same at every attempt, so that the gateway can detect repeats.
 * @returns the failure, or null on success
 */
export async function sendText(
  { url, token }: NonNullable<App['config']['sms']>,
  text: { id: string; to: string; text: string },
  timeoutMs: number = TIMEOUT_MS,
): Promise<TextFailure | null> {
  const status = await postJson({ url, token, body: text, timeoutMs })
  if (typeof status !== 'number') return status
  return status >= 200 && status < 300 ? null : `gateway_refused (${status})`
}
