/* What a shop's developer does wrong without an error, where only the page sees it. The checkout in the frame sees the rest. */

/** So many tokens in a row, none of which was shown, come from a page that makes one on each render. */
const REPLACED_MAX = 3

export type TokenWatch = {
  /** Called when the checkout of a token begins. */
  began(token: string): void
  /** Called when its first screen is shown. */
  ready(): void
}

/** Warns of a component that gets another token before it could show the last one, again and again. */
export function makeTokenWatch(): TokenWatch {
  let last: string | undefined
  let replaced = 0
  return {
    began(token) {
      // React's strict mode begins twice with the same one.
      if (token === last) return
      if (last !== undefined) replaced += 1
      last = token
      if (replaced === REPLACED_MAX)
        warn(
          'the token changes with each render, and each one begins a new checkout: make it once for an order, and keep it in the state',
        )
    },
    ready() {
      last = undefined
      replaced = 0
    },
  }
}

/** A promise of a token is a common one: its text says nothing. */
export function warnOfToken(token: unknown): void {
  if (typeof token !== 'string') warn(`the token is not a text but ${kindOf(token)}: wait for it, and pass the text`)
}

/** Without the navigation the payer stays before a checkout that has ended, unless the page does something. */
export function warnOfDeadEnd(noRedirect: boolean | undefined, isHeard: boolean): void {
  if (noRedirect && !isHeard)
    warn('noRedirect keeps the payer here, and nothing listens to "return" or "cancelled": listen, or leave it out')
}

/** The browser names the page's policy, and this the line that it lacks. Returns the function that stops listening. */
export function watchFramePolicy(origin: string): () => void {
  const onViolation = ({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent): void => {
    if (effectiveDirective === 'frame-src' && blockedURI.startsWith(origin))
      warn(`the page's Content-Security-Policy blocks the checkout: add frame-src ${origin}`)
  }
  document.addEventListener('securitypolicyviolation', onViolation)
  return () => document.removeEventListener('securitypolicyviolation', onViolation)
}

function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1)
}

function warn(text: string): void {
  console.warn(`svc checkout: ${text}.`)
}
