import { validateHeaderName, validateHeaderValue } from 'node:http'
import { request } from 'undici'
import { z } from 'zod'
import { ErrorBody } from '../../../src/wire/common.ts'
import type { Access } from '../../../src/wire/operation.ts'
import { advanceSandboxClock } from '../../../src/wire/sandbox.ts'
import { CliError, messageOf } from '../../base/errors.ts'
import { exitOfStatus } from '../../base/exit-codes.ts'
import { jsonOrText } from '../../base/json.ts'
import { proofFor, signalOf } from '../../client/call.ts'
import { isNetworkFailure, unreachable } from '../../client/unreachable.ts'
import { ADVANCE_TIMEOUT_MS } from '../../sandbox/clock.ts'
import { refuseDifferences, refuseStatus } from '../assert-matches.ts'
import { StepFailure } from '../failure.ts'
import { Advance, ExpectedStatus, Matcher, Name, Ref, Text } from '../language/parts.ts'
import { differencesOf } from '../matchers.ts'
import { isMade, isMerchant, merchantOf } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import type { Path } from '../read/source.ts'
import { asCustomer } from './customers.ts'
import { inHub } from './payers.ts'
import { sends, verb } from './verb.ts'

const clock = verb({
  schema: z.strictObject({ advance: Advance }),
  text: "Advances the clock of the case's merchant and of the customers it created.",
  examples: ['clock: { advance: 11h }'],
  play: sends({
    operation: advanceSandboxClock,
    what: 'the clock',
    // The end of the case ends the request too.
    by: ({ client }) => ({ ...client, timeoutMs: ADVANCE_TIMEOUT_MS }),
    request: ({ made, merchant }, { advance }) => ({
      body: {
        merchant_id: merchant.merchant_id,
        customer_ids: made.flatMap((each) => (each.kind === 'customer' ? [each.customer.customer_id] : [])),
        by: advance,
      },
    }),
  }),
})

const ApiPath = z
  .string()
  .regex(/^[/$]/, 'must be a path below /api/v1, such as "/payments", or one that begins with /open-banking/')
  .optional()
const Http = z.strictObject({
  get: ApiPath,
  post: ApiPath,
  put: ApiPath,
  delete: ApiPath,
  /** Who sends it; where nothing is said, the case's merchant, or its operator where the path is for operators. */
  by: Ref.caller.optional(),
  headers: z.record(Text, Text).optional(),
  body: z.unknown().optional(),
  as: Name.optional(),
  expect: z
    .strictObject({
      http: ExpectedStatus.optional(),
      headers: z.record(Text, Matcher).optional(),
      body: Matcher.optional(),
    })
    .optional(),
})

/** The code of an answer that is neither a success nor an error in the API's form. */
export const UNEXPECTED_STATUS = 'UNEXPECTED_STATUS'

const METHODS = ['get', 'post', 'put', 'delete'] as const
const BASE = '/api/v1'
/** The Open Banking API stands beside ours, and has versions of its own. */
const OPEN_BANKING = '/open-banking/'

const http = verb({
  schema: Http,
  text:
    'Sends any request below `/api/v1` or to `/open-banking/…`: as the merchant, or as an operator on `/admin/…` and ' +
    '`/sandbox/…`. `by` names another caller: a customer, a signed-in payer, another merchant, `operator` or `anonymous`.',
  examples: [
    'http: { get: "/payments/$p1.payment_id", expect: { http: 200 } }',
    'http: { get: /open-banking/v1/accounts, by: $c1 }',
    'http: { get: "/payments/$p1.payment_id", expect: { http: 200, body: { status: Settled } } }',
    'http: { post: /payments, body: { amount: 5 }, expect: { http: 400 } }',
  ],
  makes: { kind: 'answer', members: ['http', 'headers', 'body'] },
  async play(run, input) {
    const answer = await send(run, input)
    if (input.as !== undefined) run.captures.set(input.as, answer)
    const { http: status, headers, body } = input.expect ?? {}
    if (status !== undefined) refuseStatus(answer.http, status)
    else if (answer.http < 200 || answer.http > 299) throw refusalOf(answer)
    if (headers !== undefined)
      refuseDifferences('a header', differencesOf(lowerCaseNames(headers), answer.headers), ['expect', 'headers'])
    if (body !== undefined) refuseDifferences('the body', differencesOf(body, answer.body), ['expect', 'body'])
  },
})

export const REQUEST_VERBS = { clock, http }

type Answer = { http: number; headers: Record<string, unknown>; body: unknown }

async function send(run: CaseRun, input: z.infer<typeof Http>): Promise<Answer> {
  const { client } = run
  refuseHeaders(input.headers ?? {})
  const method = METHODS.find((name) => input[name] !== undefined) ?? 'get'
  const path = input[method] ?? ''
  const url = `${client.apiUrl}${path.startsWith(OPEN_BANKING) ? '' : BASE}${path}`
  const body =
    input.body === undefined ? null : typeof input.body === 'string' ? input.body : JSON.stringify(input.body)
  const headers = {
    accept: 'application/json',
    ...(await proofOf(run, input.by, path)),
    ...(body === null ? {} : { 'content-type': 'application/json' }),
    ...lowerCaseNames(input.headers ?? {}),
  }
  const sent = { method: method.toUpperCase(), url, headers, body }
  client.onExchange?.({ ...sent, status: undefined, reply: undefined })
  const options = {
    ...sent,
    method: UPPER[method],
    dispatcher: client.dispatcher,
    signal: signalOf(client),
  }
  const fail = (error: unknown): never => {
    throw failureOf(run, error, input.headers === undefined ? [method] : ['headers'])
  }
  const response = await request(url, options).catch(fail)
  const text = await response.body.text().catch(fail)
  client.onExchange?.({ ...sent, status: response.statusCode, reply: text })
  return { http: response.statusCode, headers: response.headers, body: jsonOrText(text) }
}

/** The credentials of the caller that the step names, on any path, so that also the wrong one can be tried. */
function proofOf(run: CaseRun, by: string | undefined, path: string): ReturnType<typeof proofFor> {
  const { client } = run
  if (by === undefined) return proofFor(client, { access: [accessOf(path)] })
  if (by === 'anonymous') return Promise.resolve({})
  if (by === 'operator') return proofFor(client, { access: ['platform'] })
  if (isMerchant(run, by)) return proofFor(merchantOf(run, by).client, { access: ['merchant'] })
  if (isMade(run, 'payer', by)) return proofFor(inHub(run, by), { access: ['payer'] })
  return proofFor(asCustomer(run, by), { access: ['customer'] })
}

/** Who a request of this path comes from: the case's operator where it is for operators, its merchant everywhere else. */
function accessOf(path: string): Access {
  if (path.startsWith('/admin/')) return 'platform'
  return path.startsWith('/sandbox/') ? 'sandbox' : 'merchant'
}

/** What HTTP can't carry is reported before it is sent; the value may be a secret and is not repeated. */
function refuseHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    } catch (cause) {
      throw new StepFailure(`invalid header ${JSON.stringify(name)}: HTTP can't carry it`, {
        at: ['headers', name],
        cause,
      })
    }
  }
}

/** Only the network can make the service unreachable; all else is a matter of the request in this step. */
function failureOf({ client }: CaseRun, error: unknown, at: Path): Error {
  const failure = unreachable(client, error)
  if (isNetworkFailure(error) || client.signal?.aborted === true) return failure
  const message =
    failure.code === 'SERVICE_UNREACHABLE' ? `the service's answer can't be read: ${messageOf(error)}` : failure.message
  return new StepFailure(message, { at, cause: error })
}

const UPPER = { get: 'GET', post: 'POST', put: 'PUT', delete: 'DELETE' } as const

function lowerCaseNames<T>(headers: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** A refusal in the same form in which the other verbs meet theirs. */
function refusalOf({ http, body }: Answer): CliError {
  const parsed = ErrorBody.safeParse(body)
  const { code, error } = parsed.success
    ? parsed.data
    : { code: UNEXPECTED_STATUS, error: `the service answered ${http}` }
  return new CliError(code, error, { exit: exitOfStatus(http), status: http })
}
