import { quoted } from '../base/command-hints.ts'
import type { Exchange } from '../client/call.ts'
import type { Came } from './failure.ts'
import type { Difference } from './matchers.ts'

/** Members that are credentials. A report lands in logs and tickets, where none of them may stand. */
const SECRET_MEMBERS = new Set([
  'webhook_signing_secret',
  'webhook_secret',
  'client_secret',
  'secret',
  'password',
  'token',
  'access_token',
  'refresh_token',
  'id_token',
  'redirect_url',
  'state',
  'payment_state',
  'session_token',
  'signatures',
])
const SECRET_HEADERS = /^(authorization|cookie|x-payment-state|x-checkout-token|x-service-signature(-previous)?)$/i
const MASK = '***'

/** What signs in, or takes a payer back, as links and addresses carry it. */
const IN_LINKS = /([?#&](?:\w*token|state|code|request|secret)=)[^&#\s"'<>\\]+/gi

function maskedLinks(text: string): string {
  return text.replace(IN_LINKS, `$1${MASK}`)
}

export function masked(value: unknown, isRequest: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, isRequest))
  if (typeof value === 'string') return maskedLinks(value)
  if (typeof value !== 'object' || value === null) return value
  // An error's code is what the report is about; a code beside a state is the bank's one-time code.
  const isBankReturn = isRequest && Object.hasOwn(value, 'state')
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      (SECRET_MEMBERS.has(key) || (key === 'code' && isBankReturn)) && item !== null ? MASK : masked(item, isRequest),
    ]),
  )
}

export function cameShown({ value }: Came): unknown {
  return masked(value, false) ?? null
}

export function maskedBody(text: string, isRequest: boolean): string {
  try {
    const before: unknown = JSON.parse(text)
    return JSON.stringify(masked(before, isRequest))
  } catch {
    return maskedLinks(text)
  }
}

/**
 * A difference as it may be shown: both sides are masked where the path leads to, or through, something secret. That a
 * value is missing is no secret.
 */
export function maskedDifference({ path, expected, actual }: Difference): Difference {
  const members = path.split(/[.[\]]+/)
  if (!members.some((member) => SECRET_MEMBERS.has(member) || SECRET_HEADERS.test(member)))
    return { path, expected: maskedLinks(expected), actual: maskedLinks(actual) }
  const mask = (shown: string): string => (shown === 'nothing' || shown === 'null' ? shown : MASK)
  return { path, expected: mask(expected), actual: mask(actual) }
}

/**
 * The request as a command to paste, which sends what was sent: `-g` keeps curl from expanding brackets of the address,
 * and `--data-raw` from reading a file where the body begins with @. Nothing in it is secret but what the reader has to
 * fill in.
 */
export function curlOf({ method, url, headers, body }: Exchange): string {
  const words = ['curl', '-g', ...(method === 'GET' && body === null ? [] : ['-X', method]), quoted(maskedLinks(url))]
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'accept') continue
    words.push('-H', quoted(`${name}: ${SECRET_HEADERS.test(name) ? MASK : value}`))
  }
  if (body !== null) words.push('--data-raw', quoted(maskedBody(body, true)))
  return words.join(' ')
}

const REPLY_SHOWN_MAX = 360

export function replyOf({ status, reply }: Exchange): string {
  if (status === undefined) return 'no answer'
  const text = maskedBody(reply ?? '', false)
  return `${status} ${text.length > REPLY_SHOWN_MAX ? `${text.slice(0, REPLY_SHOWN_MAX)}…` : text}`.trim()
}
