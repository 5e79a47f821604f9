import { DomainError, invalidField } from '../lib/errors.ts'
import { fitsCurrency, isKnownCurrency, parseAmount, tooPreciseText } from '../lib/money.ts'

/**
 * What an amount must be beside its form: something, in a currency that is offered, and no digits that this can't pay.
 * @throws {DomainError} VALIDATION_FAILED, UNSUPPORTED_CURRENCY
 */
export function checkAmount({ amount: text, currency }: { amount: string; currency: string }): void {
  if (!isKnownCurrency(currency)) throw unsupportedCurrency(currency)
  const amount = parseAmount(text)
  if (amount === 0n) throw invalidField('amount', 'TOO_SMALL', 'must be at least 0.01')
  if (!fitsCurrency(amount, currency)) {
    throw invalidField('amount', 'TOO_PRECISE', tooPreciseText(currency))
  }
}

export function unsupportedCurrency(currency: string): DomainError {
  return new DomainError('UNSUPPORTED_CURRENCY', `payments in ${currency} are not offered`, {
    errors: [{ path: 'currency', code: 'UNSUPPORTED_CURRENCY', message: "is not one of the merchant's currencies" }],
  })
}
