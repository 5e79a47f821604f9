import { z } from 'zod'
import type { BankAnswer } from '../bank-client.ts'
import { BankUnavailableError } from '../connector.ts'
import { jsonOf } from '../discovery.ts'
import type { BankProfile } from '../profiles.ts'
import type { Step } from './calls-sql.ts'
import type { Discovery } from './discovery.ts'
import { headerOf } from './http.ts'
import type { BankHttp } from './http.ts'
import { problemOfSignature } from './signing.ts'
import type { Signer } from './signing.ts'
import { TermsMembers } from './terms.ts'
import type { Tokens } from './tokens.ts'

/*
 * A member that only explains is left out where it can't be read, and takes nothing from the status: else a payment that was
 * made, or has failed, stays open. The standard requires neither a reason nor any member of a payer's account.
 */
const ReasonText = z.string().transform((StatusReasonCode) => [{ StatusReasonCode }])

/** Why a status is what it is: a list of codes in version 4.0, one text in 3.1. */
const StatusReason = z
  .union([z.array(z.object({ StatusReasonCode: z.string().optional() })), ReasonText])
  .optional()
  .catch(undefined)

const Account = z.object({ SchemeName: z.string(), Identification: z.string() })
const Debtor = Account.optional().catch(undefined)

/** The account for refunds: within a member of payments, by itself in those of mandates. */
const Refund = z
  .union([z.object({ Account }).transform(({ Account: account }) => account), Account])
  .optional()
  .catch(undefined)

/** What we use of a consent. Members of either version; the others are left alone. */
export const ConsentAnswer = z.object({
  Data: z.object({
    ConsentId: z.string().min(1).max(128),
    Status: z.string(),
    StatusReason,
    Debtor,
    DebtorAccount: Debtor,
    Refund,
    ...TermsMembers,
  }),
})
export type ConsentAnswer = z.infer<typeof ConsentAnswer>

export const PaymentAnswer = z.object({
  Data: z.object({
    DomesticPaymentId: z.string().min(1).max(40).optional(),
    DomesticVRPId: z.string().min(1).max(40).optional(),
    ConsentId: z.string(),
    Status: z.string(),
    StatusReason,
    Refund,
    ...TermsMembers,
  }),
})
export type PaymentAnswer = z.infer<typeof PaymentAnswer>

export const FundsAnswer = z.object({
  Data: z.object({ FundsAvailableResult: z.object({ FundsAvailable: z.union([z.boolean(), z.string()]) }) }),
})

const ErrorCode = z.string().regex(/^[\w.: -]{1,128}$/)
const ErrorAnswer = z.object({
  Errors: z.array(z.object({ ErrorCode: ErrorCode.optional() })).optional(),
  Code: ErrorCode.optional(),
})

/** The bank has understood the request and does not do it. */
export class RefusedByBankError extends Error {
  override readonly name = 'RefusedByBankError'
  readonly step: Step
  readonly status: number
  /** The first error code of the standard. */
  readonly reason: string | undefined

  constructor(step: Step, { status, reason }: { status: number; reason: string | undefined }) {
    super(`${step}: refused (${status}${reason === undefined ? '' : `, ${reason}`})`)
    this.step = step
    this.status = status
    this.reason = reason
  }
}

export type Call<T> = {
  step: Step
  method: 'GET' | 'POST' | 'DELETE'
  url: string
  token: string
  state: string
  /** The JSON text that is signed and sent as it is. */
  body?: string
  /** At most 40 characters. */
  idempotencyKey?: string
  answer: z.ZodType<T>
  /** Why the answer is not about what was asked; undefined if it is. */
  problemOf?: (answer: T) => string | undefined
  /** Called before the request leaves, where it does. */
  beforeSending?: () => Promise<void>
  /** Called where the bank does not take the token. Without it the token is the client's own, and is dropped. */
  tokenRejected?: () => Promise<void>
}

type Heading = Pick<Call<unknown>, 'token' | 'body' | 'idempotencyKey'>

export type Resources = {
  /**
   * Calls a resource of the bank, with body and answer signed.
   * @throws {BankUnavailableError} where it is not known what the bank did
   * @throws {RefusedByBankError}
   */
  call<T>(call: Call<T>, signal: AbortSignal): Promise<T>
}

type Parts = {
  profile: BankProfile
  signer: Signer
  http: BankHttp
  discovery: Discovery
  tokens: Pick<Tokens, 'forget'>
}

export function makeResources({ profile, signer, http, discovery, tokens }: Parts): Resources {
  const isSigned = !profile.quirks.includes('unsigned_responses')
  const b64Header = profile.quirks.includes('b64_header')

  async function headersOf({ token, body, idempotencyKey }: Heading): Promise<Record<string, string>> {
    return {
      authorization: `Bearer ${token}`,
      ...(profile.financial_id === undefined ? {} : { 'x-fapi-financial-id': profile.financial_id }),
      ...(idempotencyKey === undefined ? {} : { 'x-idempotency-key': idempotencyKey }),
      ...(body === undefined
        ? {}
        : {
            'content-type': 'application/json',
            'x-jws-signature': await signer.detached(Buffer.from(body), { b64Header }),
          }),
    }
  }

  async function problemOfSigned(answer: BankAnswer, signal: AbortSignal): Promise<string | undefined> {
    const { status, body } = answer
    if (!isSigned || (status >= 300 && status !== REFUSED) || body === '') return undefined
    const signature = headerOf(answer, 'x-jws-signature')
    const problem = await problemOfSignature(Buffer.from(body), signature, discovery.keys(signal))
    return problem === undefined ? undefined : `its signature is not the bank's: ${problem}`
  }

  return {
    call: async <T>(call: Call<T>, signal: AbortSignal): Promise<T> => {
      const { step, method, url, body, state, beforeSending } = call
      const headers = await headersOf(call)
      const sent = { step, method, url, headers, state, ...(body === undefined ? {} : { body }) }
      const held: { read?: T } = {}
      const answer = await http.send(
        {
          ...sent,
          beforeSending,
          problemOf: async (given) => {
            const problem = await problemOfSigned(given, signal)
            if (problem !== undefined || given.status >= 400) return problem
            const { success, data } = call.answer.safeParse(jsonOf(given.body))
            if (!success) return 'its answer can not be read'
            held.read = data
            return call.problemOf?.(data)
          },
        },
        signal,
      )
      if (answer.status === 401) {
        if (call.tokenRejected === undefined) tokens.forget(call.token)
        else await call.tokenRejected()
      }
      if (answer.status >= 400) throw refusal(step, answer.status, jsonOf(answer.body))
      return held.read as T
    },
  }
}

/** The only status of the standard that says no to an order: the others are about the way to it. */
const REFUSED = 400

/** Where a refusal says nothing of what was asked about. */
const QUESTIONS: readonly Step[] = ['consent status', 'payment status']

/**
 * Believed in the standard's own words alone: gateways refuse as well, and know nothing of the payment. What they refuse of a
 * payment that is under way says nothing of the bank, as it may be the payer's token that has ended.
 */
function refusal(step: Step, status: number, json: unknown): Error {
  const { Errors: errors, Code: code } = ErrorAnswer.safeParse(json).data ?? {}
  const reason = errors?.[0]?.ErrorCode ?? code
  const isUnderstood = status === REFUSED && reason !== undefined
  if (isUnderstood && !QUESTIONS.includes(step)) return new RefusedByBankError(step, { status, reason })
  const bank = isUnderstood ? 'answers' : step === 'consent' ? 'silent' : 'unknown'
  return new BankUnavailableError(`${step}: the bank does not answer it (${status})`, { bank })
}
