import { request } from 'undici'
import { z } from 'zod'
import { claimsOf } from '../client/auth/token-source.ts'
import { parsedJson } from '../base/json.ts'

const PROBE_TIMEOUT_MS = 2_500
const TEXT_MAX = 256 * 1024

/** An answer, with the hour that it names; or why there was none. */
export type Probed =
  | { status: number; json: unknown; /** How far its clock is ahead of ours. */ aheadMs: number | undefined }
  | { status: undefined; why: string }

export async function probe(
  url: string,
  form?: Record<string, string>,
  timeoutMs: number = PROBE_TIMEOUT_MS,
): Promise<Probed> {
  const before = Date.now()
  try {
    const { statusCode, headers, body } = await request(url, {
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        connection: 'close',
        accept: 'application/json',
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form).toString() }),
    })
    const after = Date.now()
    const text = (await body.text()).slice(0, TEXT_MAX)
    const json = parsedJson(text)
    const { date } = headers
    const theirs = typeof date === 'string' ? Date.parse(date) : issuedAt(json)
    return { status: statusCode, json, aheadMs: aheadOf(theirs, before, after) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    return { status: undefined, why: `nothing answers at ${url}${code}` }
  }
}

const TokenAnswer = z.object({ access_token: z.string() })

/** When the token of an answer was made, which is the time of a server that sends no Date: Keycloak does not. */
function issuedAt(json: unknown): number {
  const { data } = TokenAnswer.safeParse(json)
  const iat = data === undefined ? undefined : claimsOf(data.access_token)?.['iat']
  return typeof iat === 'number' ? iat * 1000 : Number.NaN
}

/** Zero where the hour lies between the question and the answer; it is given in whole seconds. */
function aheadOf(theirs: number, before: number, after: number): number | undefined {
  if (Number.isNaN(theirs)) return undefined
  if (theirs > after) return theirs - after
  return theirs + 999 < before ? theirs + 999 - before : 0
}

/** The JSON that answers a GET, whatever its status; undefined where nothing answers. */
export async function jsonAt(url: string): Promise<unknown> {
  const probed = await probe(url)
  return probed.status === undefined ? undefined : probed.json
}
