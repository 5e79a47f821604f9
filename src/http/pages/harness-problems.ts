import type { App } from '../../app.ts'
import { readCaps } from '../../consents/control-parameters.ts'
import { DomainError } from '../../lib/errors.ts'
import { checkAmount, checkScenario } from '../../payments/creation-rules.ts'
import type { CreatePayment } from '../../wire/new-payment.ts'

/** All problems that would reject a payment with a body of valid form. */
export function ruleProblems(app: App, body: CreatePayment): string[] {
  const { control_parameters: caps, currency } = body
  return [
    () => checkAmount(body),
    () => checkScenario(app, body),
    () => (caps === undefined ? undefined : readCaps(caps, currency)),
  ].flatMap((check) => {
    try {
      check()
      return []
    } catch (failure) {
      if (!(failure instanceof DomainError)) throw failure
      return [failure.message]
    }
  })
}
