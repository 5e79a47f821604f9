import { request } from 'undici'
import { z } from 'zod'
import { isFailureCode } from '../lib/failure-codes.ts'
import type { FailureCode } from '../lib/failure-codes.ts'
import { constantTimeEqual, hmacHex } from '../lib/hmac.ts'
import type { Logger } from '../observe/log.ts'
import type { BankCallback } from './connector.ts'

/** The header that carries the mock bank's signature: lower-case hex of HMAC-SHA256 over the body's bytes. */
export const CALLBACK_SIGNATURE_HEADER = 'x-mock-bank-signature'

/** The mock bank's timeout for posting a callback. */
const CALLBACK_DEADLINE_MS = 5_000

const CallbackBody = z.discriminatedUnion('outcome', [
  z.strictObject({
    state: z.string().min(1),
    outcome: z.literal('authorised'),
    bank_reference: z.string().min(1).optional(),
    settle_in_seconds: z.int().min(0),
  }),
  z.strictObject({
    state: z.string().min(1),
    outcome: z.literal('rejected'),
    failure_code: z.custom<FailureCode>((value) => typeof value === 'string' && isFailureCode(value)),
  }),
])
type CallbackBody = z.infer<typeof CallbackBody>

/** Sends a signed callback and returns the response status. */
export type PostCallback = (url: string, headers: Record<string, string>, body: Buffer) => Promise<number>

/** The signature that proves a callback is from the mock bank (decision 54). */
export function signCallback(secret: string, rawBody: Uint8Array): string {
  return hmacHex(secret, rawBody)
}

/** Serialises a callback. */
export function callbackBytes(callback: BankCallback): Buffer {
  return Buffer.from(JSON.stringify(toBody(callback)))
}

/** Parses a callback from exactly the received bytes; undefined when the mock bank did not sign them. */
export function readSignedCallback(
  secret: string,
  { headers, rawBody }: { headers: Readonly<Record<string, string | undefined>>; rawBody: Buffer },
): BankCallback | undefined {
  const signature = headers[CALLBACK_SIGNATURE_HEADER]
  if (signature === undefined || !constantTimeEqual(signature, signCallback(secret, rawBody))) return undefined
  const body = CallbackBody.safeParse(parseJson(rawBody))
  return body.success ? fromBody(body.data) : undefined
}

/**
 * Posts a callback to the service. A failed callback is only logged: the payer's redirect brings the same result, and a
 * real bank's callback may get lost too.
 */
export async function postCallback(
  bank: { publicUrl: string; secret: string; log: Logger; post: PostCallback },
  callback: BankCallback,
): Promise<void> {
  const body = callbackBytes(callback)
  const headers = { 'content-type': 'application/json', [CALLBACK_SIGNATURE_HEADER]: signCallback(bank.secret, body) }
  try {
    const status = await bank.post(`${bank.publicUrl}/api/v1/bank/callbacks/mock`, headers, body)
    if (status < 200 || status > 299) bank.log.warn({ status }, "the service did not take the mock bank's callback")
  } catch (error) {
    bank.log.warn({ err: error }, "the mock bank's callback did not arrive")
  }
}

/** Posts over HTTP: no redirects, 5 seconds for everything, the response body is not read. */
export async function postOverHttp(url: string, headers: Record<string, string>, body: Buffer): Promise<number> {
  const reply = await request(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(CALLBACK_DEADLINE_MS) })
  await reply.body.dump({ limit: 16_384 })
  return reply.statusCode
}

function toBody({ state, result }: BankCallback): CallbackBody {
  if (result.outcome === 'rejected') return { state, outcome: 'rejected', failure_code: result.failureCode }
  const reference = result.bankReference === undefined ? {} : { bank_reference: result.bankReference }
  return { state, outcome: 'authorised', ...reference, settle_in_seconds: result.settleInSeconds }
}

function fromBody(body: CallbackBody): BankCallback {
  if (body.outcome === 'rejected') {
    return { state: body.state, result: { outcome: 'rejected', failureCode: body.failure_code } }
  }
  const { state, bank_reference: bankReference, settle_in_seconds: settleInSeconds } = body
  return { state, result: { outcome: 'authorised', bankReference, settleInSeconds } }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
