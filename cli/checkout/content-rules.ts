import type { FieldError } from '../../src/lib/errors.ts'
import { parsePart, validMembers } from '../../src/lib/field-errors.ts'
import { fitsCurrency, isKnownCurrency, minorDigits, parseAmount } from '../../src/lib/money.ts'
import { readWebOrigin } from '../../src/lib/web-origin.ts'
import { CheckoutToken } from '../../src/wire/checkout.ts'

/** What is wrong with what a token says, as far as that can be told without a service. */
export function contentProblems(content: unknown): FieldError[] {
  const fields: FieldError[] = []
  parsePart(CheckoutToken, content, fields)
  const { amount, currency, callbackOrigin } = validMembers(CheckoutToken, content)
  if (currency !== undefined && !isKnownCurrency(currency))
    fields.push({ path: 'currency', code: 'UNSUPPORTED_CURRENCY', message: `must be one of ${KNOWN.join(', ')}` })
  if (amount !== undefined) fields.push(...amountProblems(amount, currency ?? ''))
  // Live, the service does without http on this machine too.
  const origin = callbackOrigin === undefined ? undefined : readWebOrigin(callbackOrigin, { allowLoopbackHttp: true })
  if (origin !== undefined && !('origin' in origin)) fields.push({ path: 'callbackOrigin', ...origin })
  return fields
}

const KNOWN: readonly string[] = Intl.supportedValuesOf('currency').filter((code) => isKnownCurrency(code))

/** As the service refuses it (decision 33). */
function amountProblems(text: string, currency: string): FieldError[] {
  const amount = parseAmount(text)
  if (amount === 0n) return [{ path: 'amount', code: 'TOO_SMALL', message: 'must be more than nothing' }]
  if (!isKnownCurrency(currency) || fitsCurrency(amount, currency)) return []
  const message = `must have ${minorDigits(currency)} decimals at most in ${currency}`
  return [{ path: 'amount', code: 'TOO_PRECISE', message }]
}
