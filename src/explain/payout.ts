import { amountWithCurrency } from '../lib/money.ts'
import { PAYOUT_TRANSITIONS } from '../payouts/states.ts'
import type { PayoutTrigger } from '../payouts/states.ts'
import type { PayoutStatus } from '../wire/payouts.ts'
import type { PaymentFacts, PayoutFacts, SettlementFacts } from './facts-sql.ts'
import { failureCodeText } from './phrases.ts'
import { explained, forMerchant, forOperator } from './steps.ts'
import type { SubjectKind } from './steps.ts'
import { countText, isZero, momentText, untilText } from './text.ts'
import { canSeeMoney } from './viewer.ts'
import type { Viewer } from './viewer.ts'

/* What becomes of money after a payment has settled: settlements, and the payouts that pay them. */

const STANDING: Readonly<Record<PayoutStatus, (payout: PayoutFacts) => string>> = {
  CREATED: (it) =>
    it.connector === 'file' ? 'waits for an operator to export it in an instruction file' : 'waits to be sent',
  SENT: (it) =>
    it.next_attempt_at === null
      ? 'is in an instruction file: the bank has not said yet what became of it'
      : `the bank has not said yet what became of it; it is asked again at ${untilText(it.now, it.next_attempt_at)}`,
  PAID: (it) => `paid: the bank carried it out${it.bank_reference === null ? '' : ` as ${it.bank_reference}`}`,
  FAILED: (it) => `failed: ${failureCodeText(it.failure_code)}. ${retryText(it)}`,
  RETURNED: (it) => `came back after it was paid: ${failureCodeText(it.failure_code)}. ${retryText(it)}`,
}

const ONCE_FREE = 'once the merchant is not held, suspended or disabled any more'

function retryText({ now, retry_at: at, may_be_paid: mayBePaid }: PayoutFacts): string {
  const stopped = mayBePaid ? '' : `, ${ONCE_FREE}`
  if (at === null)
    return `Its money is paid out once there is another bank account, or an operator retries it${stopped}`
  return `Its money is in the next payout${at > now ? `, not before ${untilText(now, at)}` : ''}${stopped}`
}

/** What `svc payouts retry` accepts: one that a bank's API is asked about, or whose money may be paid out. */
function canRetry({ status, connector, may_be_paid: mayBePaid }: PayoutFacts): boolean {
  if (status === 'SENT') return connector !== 'file'
  return (status === 'FAILED' || status === 'RETURNED') && mayBePaid
}

function lateReturnText({ unexpected_return_at: at }: PayoutFacts): string {
  return at === null ? '' : `. Its bank returned it at ${momentText(at)}, so it had made it`
}

export const PAYOUT: SubjectKind<PayoutTrigger, PayoutFacts> = {
  title: ({ amount, currency, settlement_count: count }) => {
    const paid = count === 0 ? '' : `, which pays ${countText(count, 'settlement')}`
    return `payout of ${amountWithCurrency(amount, currency)}${paid}`
  },
  standing: (payout) => `${STANDING[payout.status](payout)}${lateReturnText(payout)}`,
  table: () => PAYOUT_TRANSITIONS,
  moves: {
    creation: { by: 'the service, once settlements can be paid' },
    sending: {
      by: ({ connector }) => (connector === 'file' ? 'an operator, by exporting it' : 'the service'),
      how: ({ connector }) => (connector === 'file' ? [forOperator('svc payouts export --file <path>')] : []),
    },
    confirmation: { by: 'the bank', at: (it) => it.next_attempt_at },
    rejection: {
      by: 'the bank; before it is sent, the merchant by disabling the account, or an operator by stopping its payouts',
    },
    return: { by: "the merchant's bank" },
  },
  also: (it) => [
    ...(canRetry(it)
      ? [{ what: 'retry it now', by: 'an operator', how: [forOperator(`svc payouts retry ${it.id} --reason "..."`)] }]
      : []),
    ...explained('its settlement', it.settlement_id),
  ],
}

export const SETTLEMENT: SubjectKind<never, SettlementFacts> = {
  title: (it) => `settlement of ${amountWithCurrency(it.net_amount, it.currency)}, until ${momentText(it.period_to)}`,
  standing: (it) =>
    `closed with ${countText(it.line_count, 'line')}: ${isZero(it.payable_amount) ? 'nothing is to be paid, and the next settlement opens with it' : payableText(it)}`,
  table: () => [],
  moves: {},
  also: ({ id, payout_id: payoutId }) => [
    { what: 'list its lines', by: 'the merchant', how: [forMerchant('read balances', `svc settlements lines ${id}`)] },
    ...explained('its payout', payoutId),
  ],
}

function payableText(it: SettlementFacts): string {
  const money = `${amountWithCurrency(it.payable_amount, it.currency)} to be paid`
  if (it.payout_id !== null) return `${money}, by the payout ${it.payout_id}, which is ${it.payout_status}`
  if (!it.may_be_paid) return `${money}, ${ONCE_FREE}`
  return it.has_account
    ? `${money} by the next payout`
    : `${money}, once the merchant has a bank account for ${it.currency}`
}

type MoneyFacts = PaymentFacts['money']

/** Where the money of a settled payment is: in the open period, or in a settlement. */
export function moneyPlaceText(facts: MoneyFacts, viewer: Viewer): string {
  if (facts === null || !canSeeMoney(viewer)) return ''
  if (facts.settlement_id === null) return '. Its money is in the next settlement'
  const paid = facts.payout_id === null ? '' : `, which the payout ${facts.payout_id} pays (${facts.payout_status})`
  return `. Its money is in the settlement ${facts.settlement_id}${paid}`
}
