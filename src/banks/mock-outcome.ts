import { parseAmount } from '../lib/money.ts'
import type { BankCallback, ExecutionOrder } from './connector.ts'
import type { Authorisation } from './mock-sql.ts'
import { parseScenario } from './scenarios.ts'
import type { Behaviour } from './scenarios.ts'

/** The outcome of a decision: computed from the books alone, so that every repeat gets the same answer. */
export function decidedOutcome(authorisation: Authorisation): BankCallback['result'] {
  if (authorisation.code === null) return { outcome: 'rejected', failureCode: 'ACCESS_DENIED' }
  const { exchange, settleInSeconds } = behaviourOf(authorisation)
  if (exchange) return { outcome: 'rejected', failureCode: exchange.failureCode }
  return { outcome: 'authorised', bankReference: authorisation.bank_reference, settleInSeconds }
}

/** Whether the payer authorised exactly this order: the bank moves no other amount and nothing that was rejected. */
export function isAuthorised(authorisation: Authorisation, order: ExecutionOrder): boolean {
  return (
    decidedOutcome(authorisation).outcome === 'authorised' &&
    authorisation.end_to_end_id === order.endToEndId &&
    authorisation.currency === order.currency &&
    parseAmount(authorisation.amount) === parseAmount(order.amount)
  )
}

/** The behaviour of an authorisation's scenario. */
export function behaviourOf(authorisation: Authorisation): Behaviour {
  return parseScenario(authorisation.scenario).behaviour
}
