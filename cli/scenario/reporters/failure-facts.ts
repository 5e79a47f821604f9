import type { Failure } from '../failure.ts'
import { cameShown, curlOf, maskedDifference, replyOf } from '../masked.ts'

/** A failure as programs read it: what is secret in it is masked. */
export function failureFacts({ payments, webhooks = [], came, exchange, ...failure }: Failure) {
  return {
    differences: failure.differences.map(maskedDifference),
    payments: payments.map(({ name, payment: { payment_id, status, status_history: history } }) => ({
      name,
      payment_id,
      status,
      history,
    })),
    webhooks: webhooks.map(({ eventId, eventType, status, signature }) => ({
      event_id: eventId,
      event_type: eventType,
      answered: status,
      signature,
    })),
    came: came === undefined ? null : { what: came.what, value: cameShown(came) },
    request: exchange === undefined ? null : curlOf(exchange),
    answer: exchange === undefined ? null : replyOf(exchange),
    again: failure.rerun,
  }
}
