import { request } from 'undici'

/** The response body is discarded; longer ones are cut off. */
const ANSWER_BYTES_MAX = 64 * 1024

export type PostJsonInput = { url: string; token?: string | undefined; body: unknown; timeoutMs: number }

/**
 * Posts JSON to an address that an operator has configured. Redirects are not followed, because the body may be secret.
 * @returns the status, or why there is none
 */
export async function postJson({
  url,
  token,
  body: content,
  timeoutMs,
}: PostJsonInput): Promise<number | 'timed_out' | 'connection_failed'> {
  try {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(content),
      signal: AbortSignal.timeout(timeoutMs),
    })
    await body.dump({ limit: ANSWER_BYTES_MAX }).catch(() => undefined)
    return statusCode
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? 'timed_out' : 'connection_failed'
  }
}
