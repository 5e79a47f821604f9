import { validateHeaderName, validateHeaderValue } from 'node:http'
import { usageError } from '../base/errors.ts'

const FORWARD_TO = { source: '--forward-to', example: '--forward-to localhost:4242/hook' }

/**
 * Reads where events are to go: an address, or one without its scheme (`localhost:4242/hook`), which is http.
 * @throws {CliError} when it is not an http or https URL, or holds a password
 */
export function targetUrl(text: string, { source, example } = FORWARD_TO): URL {
  const full = withScheme(text.trim())
  if (!URL.canParse(full) || !/^https?:$/.test(new URL(full).protocol)) {
    throw usageError(`${source}: invalid address "${text}": use an http or https URL`, example)
  }
  const url = new URL(full)
  if (url.username !== '' || url.password !== '') {
    throw usageError(
      `${source}: the address holds a name or a password, which would be shown`,
      "-H 'Authorization: Basic ...'",
    )
  }
  url.hash = ''
  return url
}

function withScheme(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text
  // `:4242/hook` and `4242/hook` name a port of this machine.
  return /^:?\d+(\/|\?|$)/.test(text) ? `http://localhost:${text.replace(/^:/, '')}` : `http://${text}`
}

export type HeaderPair = readonly [name: string, value: string]

/** What the event itself decides, and what the connection does: a header of the user's must not change it. */
const RESERVED =
  /^(x-service-signature.*|webhook-.*|content-type|content-length|transfer-encoding|connection|upgrade|expect|keep-alive)$/

/**
 * Reads `Name: value`, as curl takes it.
 * @throws {CliError} when it is no header, or one that would touch what was signed
 */
export function headerPair(text: string): HeaderPair {
  const at = text.indexOf(':')
  const name = text.slice(0, Math.max(at, 0)).trim()
  const value = text.slice(at + 1).trim()
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  } catch {
    // The value may be a secret: it is not repeated.
    throw usageError('-H: invalid header: use a name, a colon and a value', "-H 'Name: value'")
  }
  if (RESERVED.test(name.toLowerCase())) throw usageError(`-H: ${name} is the event's own; it arrives untouched`)
  return [name, value]
}

export type EventFilter = (eventType: string) => boolean

/** An exact name, all of a noun (`payment.*`), or everything (`*`). */
const PATTERN = /^(\*|[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*(\.\*)?)$/

/**
 * Reads names of events, separated by commas: `payment.settled,refund.*`.
 * @throws {CliError} naming the flag they came from
 */
export function eventFilter(text: string, flag: string): EventFilter {
  const patterns = text.split(',').map((pattern) => pattern.trim())
  for (const pattern of patterns) {
    if (!PATTERN.test(pattern))
      throw usageError(`${flag}: invalid event name "${pattern}"`, `${flag} payment.settled, or ${flag} "payment.*"`)
  }
  return (eventType) => patterns.some((pattern) => matches(pattern, eventType))
}

function matches(pattern: string, eventType: string): boolean {
  return pattern.endsWith('*') ? eventType.startsWith(pattern.slice(0, -1)) : eventType === pattern
}
