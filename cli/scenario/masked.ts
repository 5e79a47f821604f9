import type { Exchange } from '../client.ts'

/** Members that prove something to somebody. A report lands in logs and tickets, where none of them may stand. */
const SECRET_MEMBERS = new Set([
  'webhook_signing_secret',
  'webhook_secret',
  'secret',
  'token',
  'redirect_url',
  'state',
  'signatures',
])
const SECRET_HEADERS = /^(authorization|cookie|x-payment-state|x-service-signature)$/i
const MASK = '***'

function masked(value: unknown, isRequest: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, isRequest))
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

/** A body as it may be shown: as it was, but for what is secret in it. */
export function maskedBody(text: string, isRequest: boolean): string {
  try {
    const before: unknown = JSON.parse(text)
    return JSON.stringify(masked(before, isRequest))
  } catch {
    return text
  }
}

/** The request as a command to paste. Nothing in it is secret but what the reader has to fill in. */
export function curlOf({ method, url, headers, body }: Exchange): string {
  const words = ['curl', ...(method === 'GET' ? [] : ['-X', method]), quoted(url)]
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'accept') continue
    words.push('-H', quoted(`${name}: ${SECRET_HEADERS.test(name) ? MASK : value}`))
  }
  if (body !== null) words.push('-d', quoted(maskedBody(body, true)))
  return words.join(' ')
}

/** A word for a POSIX shell. */
export function quoted(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

const REPLY_SHOWN_MAX = 360

/** What was answered, in one line. */
export function replyOf({ status, reply }: Exchange): string {
  if (status === undefined) return 'no answer'
  const text = maskedBody(reply ?? '', false)
  return `${status} ${text.length > REPLY_SHOWN_MAX ? `${text.slice(0, REPLY_SHOWN_MAX)}…` : text}`.trim()
}
