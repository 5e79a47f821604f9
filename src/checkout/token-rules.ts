import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import type { FieldError } from '../lib/errors.ts'
import { parsePart, validMembers } from '../lib/field-errors.ts'
import { webAddressProblem } from '../lib/web-address.ts'
import { readWebOrigin } from '../lib/web-origin.ts'
import { checkAmount } from '../payments/creation-rules.ts'
import { CheckoutToken } from '../wire/checkout.ts'
import { paymentProblems } from './payment-body.ts'

type RulesApp = Pick<App, 'config' | 'publicUrl'>

export type ParsedToken = { token: CheckoutToken; callbackOrigin: string }

/** The end of the year 9999, the last with four digits. */
const EXP_MAX = 253_402_300_799

/**
 * Parses a token, and checks every rule that needs no database: its fields, its addresses, the amount.
 * @returns the token, or all of its errors
 */
export function parseToken(app: RulesApp, json: unknown): ParsedToken | FieldError[] {
  const errors: FieldError[] = []
  parsePart(CheckoutToken, json, errors)
  const sound = validMembers(CheckoutToken, json)
  // A member gets one error only.
  const known = new Set(errors.map(({ path }) => path))
  errors.push(...fieldProblems(app, sound).filter(({ path }) => !known.has(path)))
  const origin = readWebOrigin(sound.callbackOrigin ?? '', addressRules(app))
  if (errors.length > 0 || !('origin' in origin)) return errors
  return { token: CheckoutToken.parse(json), callbackOrigin: origin.origin }
}

function fieldProblems(app: RulesApp, token: Partial<CheckoutToken>): FieldError[] {
  const { apiUrl, returnUrl, callbackOrigin, exp } = token
  return [
    ...paymentProblems(token),
    ...amountProblems(token),
    ...(apiUrl === undefined ? [] : apiProblems(app, apiUrl)),
    ...(returnUrl === undefined ? [] : returnProblems(app, returnUrl)),
    ...(callbackOrigin === undefined ? [] : originProblems(app, callbackOrigin)),
    ...(exp === undefined || exp <= EXP_MAX
      ? []
      : [{ path: 'exp', code: 'TOO_LARGE', message: 'must be in seconds since 1970, not in milliseconds' }]),
  ]
}

/** The rules of an amount that the merchant's own server sends. */
function amountProblems({ amount, currency }: Partial<CheckoutToken>): FieldError[] {
  if (amount === undefined || currency === undefined) return []
  try {
    checkAmount({ amount, currency })
    return []
  } catch (error) {
    if (error instanceof DomainError && error.errors !== undefined) return error.errors
    throw error
  }
}

const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]']
const API_PATHS = ['', '/', '/api/v1', '/api/v1/']

/** The addresses of this service: in the sandbox the names of the local machine are equivalent. */
export function ownOrigins({ publicUrl, config }: RulesApp): string[] {
  const { protocol, hostname, port } = new URL(publicUrl)
  const isAliased = config.mode === 'sandbox' && LOOPBACK_HOSTS.includes(hostname)
  return [publicUrl, ...(isAliased ? LOOPBACK_HOSTS.map((host) => `${protocol}//${host}${port && `:${port}`}`) : [])]
}

/** A token is for this service only: its `apiUrl` must be exactly one of a few addresses of the service. */
function apiProblems(app: RulesApp, apiUrl: string): FieldError[] {
  const own = ownOrigins(app).flatMap((origin) => API_PATHS.map((path) => origin + path))
  if (own.includes(apiUrl)) return []
  return [
    { path: 'apiUrl', code: 'NOT_THIS_SERVICE', message: `must be ${app.publicUrl}/api/v1, where this service is` },
  ]
}

function returnProblems(app: RulesApp, returnUrl: string): FieldError[] {
  const problem = webAddressProblem(returnUrl, addressRules(app))
  if (problem !== undefined) return [{ path: 'returnUrl', code: 'INVALID_URL', message: problem }]
  const { origin, hostname } = new URL(returnUrl)
  // Its host must be valid in the list of origins: URL parsers accept more than host names allow.
  const read = readWebOrigin(origin, addressRules(app))
  return 'origin' in read || hostname === '[::1]' ? [] : [{ path: 'returnUrl', ...read }]
}

function originProblems(app: RulesApp, callbackOrigin: string): FieldError[] {
  const read = readWebOrigin(callbackOrigin, addressRules(app))
  if (!('origin' in read)) return [{ path: 'callbackOrigin', ...read }]
  const problem = webAddressProblem(callbackOrigin, addressRules(app))
  return problem === undefined ? [] : [{ path: 'callbackOrigin', code: 'INVALID_ORIGIN', message: problem }]
}

function addressRules({ config }: RulesApp): { allowLoopbackHttp: boolean } {
  return { allowLoopbackHttp: config.mode === 'sandbox' }
}
