import type { App } from '../../app.ts'
import { readCaps } from '../../consents/control-parameters.ts'
import { DomainError } from '../../lib/errors.ts'
import { checkAmount, checkScenario } from '../../payments/creation-rules.ts'
import type { CreatePayment } from '../../wire/new-payment.ts'

/** What of a body of the right form a payment would be refused for, all of it and not the first alone. */
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
