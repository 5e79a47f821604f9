import type { EventName } from './show-checkout.ts'

/* What a shop's developer does wrong without an error, where only the page sees it. The checkout in the frame sees the rest. */

/** Replaced by the shop's bundler. A page without one has no `process`, and nothing says that it is being developed. */
declare const process: { env: { NODE_ENV?: string } }

/** After these a page may begin another checkout. */
const ENDS: ReadonlySet<EventName> = new Set<EventName>(['success', 'failed', 'cancelled', 'return'])

export type TokenWatch = {
  /** Called when the checkout of a token begins. */
  began(token: string): void
  /** Called with each event of the checkout. */
  heard(name: EventName): void
}

const MAKE_ONCE = 'make the token once for an order, and keep it in the state'

/**
 * Warns of a page that replaces the token while its payer pays, or by one that says the same, such as one that makes a
 * token on each render. A basket that has changed is another payment.
 */
export function makeTokenWatch(): TokenWatch {
  let isPaying = false
  let last: string | undefined
  return {
    began(token) {
      // React's strict mode begins twice with the same one.
      if (last !== undefined && token !== last) {
        if (isPaying)
          warnDeveloper(
            `another token replaced that of a payer who had chosen a bank, and a new checkout began: ${MAKE_ONCE}`,
          )
        else if (isRemade(last, token))
          warnDeveloper(`a token that says the same replaced another, and a new checkout began: ${MAKE_ONCE}`)
      }
      isPaying = false
      last = token
    },
    heard(name) {
      if (name === 'bankSelected') isPaying = true
      else if (ENDS.has(name)) {
        isPaying = false
        last = undefined
      }
    },
  }
}

/** A token is renewed this long before it expires, in milliseconds. */
const RENEWED_MS = 60_000

/**
 * Whether two tokens are of one order and differ in their times alone, or in an id that one lacks, and the first was
 * good for longer.
 */
function isRemade(before: string, now: string): boolean {
  const [one, other] = [readContent(before), readContent(now)]
  if (one === undefined || other === undefined) return false
  const { exp } = one
  const isRenewed = typeof exp === 'number' && exp * 1_000 < Date.now() + RENEWED_MS
  // The `jti` is the order's number.
  const ignored = 'jti' in one && 'jti' in other ? TIMES : [...TIMES, 'jti']
  return !isRenewed && sortedText(one, ignored) === sortedText(other, ignored)
}

type Content = Readonly<Record<string, unknown>>

function readContent(token: string): Content | undefined {
  try {
    const content: unknown = JSON.parse(atob((token.split('.')[0] ?? '').replace(/-/g, '+').replace(/_/g, '/')))
    return typeof content === 'object' && content !== null ? (content as Content) : undefined
  } catch {
    return undefined
  }
}

const TIMES: readonly string[] = ['exp', 'iat']

function sortedText(content: Content, ignored: readonly string[]): string {
  return JSON.stringify(
    Object.entries(content)
      .filter(([name]) => !ignored.includes(name))
      .sort(),
  )
}

/** A promise of a token is a common one: its text says nothing. */
export function warnOfToken(token: unknown): void {
  if (typeof token === 'string') return
  const kind = kindOf(token)
  warnDeveloper(`the token must be a string, not a ${kind}${kind === 'Promise' ? ': await it first' : ''}`)
}

/** The browser names the page's policy, and this the line that it lacks. Returns the function that stops listening. */
export function watchFramePolicy(origin: string): () => void {
  const onViolation = ({ disposition, effectiveDirective, blockedURI }: SecurityPolicyViolationEvent): void => {
    // A policy that only reports blocks nothing.
    if (disposition === 'enforce' && effectiveDirective === 'frame-src' && blockedURI.startsWith(origin))
      warn(`the page's Content-Security-Policy blocks the checkout: add frame-src ${origin}`)
  }
  document.addEventListener('securitypolicyviolation', onViolation)
  return () => document.removeEventListener('securitypolicyviolation', onViolation)
}

function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1)
}

/** Not in production: such a mistake is seen while the shop is being built. */
function warnDeveloper(text: string): void {
  if (isDevelopment()) warn(text)
}

function isDevelopment(): boolean {
  try {
    return process.env.NODE_ENV !== 'production'
  } catch {
    return false
  }
}

const said = new Set<string>()

/** Once for a page, however many checkouts it shows. */
function warn(text: string): void {
  if (said.has(text)) return
  said.add(text)
  console.warn(`svc checkout: ${text}.`)
}
