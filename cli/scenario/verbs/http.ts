import { request } from 'undici'
import type { z } from 'zod'
import { ErrorBody } from '../../../src/wire/common.ts'
import { unreachable } from '../../client.ts'
import { CliError } from '../../errors.ts'
import { exitOfStatus } from '../../exit-codes.ts'
import { readInput } from '../case-run.ts'
import type { CaseRun } from '../case-run.ts'
import { refuseDifferences } from '../failure.ts'
import { Http } from '../language.ts'
import { differencesOf } from '../matchers.ts'
import { refuseStatus } from './pay.ts'

/** The code of an answer that is neither a success nor an error in the API's form. */
export const UNEXPECTED_STATUS = 'UNEXPECTED_STATUS'

const METHODS = ['get', 'post', 'put', 'delete'] as const
const BASE = '/api/v1'

/** One request as it is written: for what the other verbs have no word for, and for requests that are wrong on purpose. */
export async function http(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, Http, given)
  const answer = await send(run, input)
  if (input.as !== undefined) run.captures.set(input.as, answer)
  const { http: status, headers, body } = input.expect ?? {}
  if (status !== undefined) refuseStatus(answer.http, status)
  else if (answer.http < 200 || answer.http > 299) throw refusalOf(answer)
  if (headers !== undefined)
    refuseDifferences('a header', differencesOf(lowerCaseNames(headers), answer.headers), ['expect', 'headers'])
  if (body !== undefined) refuseDifferences('the body', differencesOf(body, answer.body), ['expect', 'body'])
}

type Answer = { http: number; headers: Record<string, unknown>; body: unknown }

async function send(run: CaseRun, input: z.infer<typeof Http>): Promise<Answer> {
  const { client } = run
  const method = METHODS.find((name) => input[name] !== undefined) ?? 'get'
  const url = `${client.apiUrl}${BASE}${input[method] ?? ''}`
  const body =
    input.body === undefined ? null : typeof input.body === 'string' ? input.body : JSON.stringify(input.body)
  const headers = {
    accept: 'application/json',
    'x-merchant-client-id': client.clientId ?? '',
    ...(body === null ? {} : { 'content-type': 'application/json' }),
    ...lowerCaseNames(input.headers ?? {}),
  }
  const sent = { method: method.toUpperCase(), url, headers, body }
  client.onExchange?.({ ...sent, status: undefined, reply: undefined })
  const options = {
    ...sent,
    method: UPPER[method],
    dispatcher: client.dispatcher,
    signal: AbortSignal.timeout(client.timeoutMs),
  }
  const response = await request(url, options).catch((error: unknown) => Promise.reject(unreachable(client, error)))
  const text = await response.body.text().catch((error: unknown) => Promise.reject(unreachable(client, error)))
  client.onExchange?.({ ...sent, status: response.statusCode, reply: text })
  return { http: response.statusCode, headers: response.headers, body: parseBody(text) }
}

const UPPER = { get: 'GET', post: 'POST', put: 'PUT', delete: 'DELETE' } as const

function lowerCaseNames<T>(headers: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A refusal in the same form in which the other verbs meet theirs. */
function refusalOf({ http, body }: Answer): CliError {
  const parsed = ErrorBody.safeParse(body)
  const { code, error } = parsed.success
    ? parsed.data
    : { code: UNEXPECTED_STATUS, error: `the service answered ${http}` }
  return new CliError(code, error, { exit: exitOfStatus(http), status: http })
}
