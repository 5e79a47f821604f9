import type { InboxKind } from '../wire/console.ts'
import { amountWithCurrency } from '../lib/money.ts'
import type { InboxDispute } from './inbox-disputes-sql.ts'
import type { InboxRecord } from './inbox-sql.ts'

type ItemText = { summary: string; command: string }
/** The item, and whether its viewer may correct balances. */
type Describe = (item: InboxRecord, canCorrect: boolean) => ItemText

/** The merchant as commands accept it. */
function merchant({ realm_slug, merchant_id, id }: InboxRecord): string {
  return realm_slug ?? merchant_id ?? id
}

function deadText(count: number, target: string): string {
  return count === 1 ? `1 delivery ${target} is DEAD` : `${count} deliveries ${target} are DEAD`
}

/** The summary and the command for operators. */
const FOR_OPERATORS: Partial<Record<InboxKind, Describe>> = {
  kyb_pending: (item) => ({
    summary: 'the merchant waits for a KYB decision',
    command: `svc kyb show ${merchant(item)}`,
  }),
  registration_stuck: (item) => ({
    summary: 'the registration is incomplete, or its administrator has not been invited',
    command: `svc merchants repair ${item.realm_slug ?? ''}`,
  }),
  dispute_evidence_due: ({ id }) => ({
    summary: 'a dispute waits for evidence from its merchant',
    command: `svc disputes show ${id}`,
  }),
  dispute_under_review: ({ id }) => ({
    summary: 'a dispute waits for its resolution',
    command: `svc disputes show ${id}`,
  }),
  dispute_escalated: ({ id }) => ({
    summary: 'an escalated dispute waits for an OWNER',
    command: `svc disputes show ${id}`,
  }),
  dispute_refund_rejected: ({ id }) => ({
    summary: 'the bank has rejected the refund that resolved a dispute: order it again',
    command: `svc disputes refund ${id} --note "..."`,
  }),
  deliveries_dead: (item) => ({
    summary: deadText(item.count, 'to the merchant'),
    command: `svc webhooks list --merchant ${merchant(item)} --status DEAD`,
  }),
  payouts_unanswered: (item) => ({
    summary: `the bank has not answered ${item.count === 1 ? 'a payout' : `${item.count} payouts`}`,
    command: `svc payouts list --merchant ${merchant(item)} --status SENT`,
  }),
  payouts_waiting: (item) => ({
    summary: `${item.count === 1 ? 'a payout has' : `${item.count} payouts have`} waited for three days to be sent`,
    command: `svc payouts list --merchant ${merchant(item)} --status CREATED`,
  }),
  payout_returned_late: ({ id }) => ({
    summary: 'a bank has returned a payout that is not paid here: it had made it, so ask whether it made another',
    command: `svc explain ${id}`,
  }),
  payment_unanswered: ({ id }) => ({
    summary: 'a bank has not said what became of a payment: ask the bank whether it has taken it',
    command: `svc payments resolve ${id}`,
  }),
  payment_settled_late: ({ id }) => ({
    summary: 'a bank has settled a payment after it had failed: its money is in no balance, unless it was added since',
    command: `svc payments resolve ${id}`,
  }),
  refunds_unanswered: (item) => ({
    summary: `the bank has not answered ${item.count === 1 ? 'a refund' : `${item.count} refunds`} of a file`,
    command: 'svc statements missing',
  }),
  refunds_waiting: ({ id, count }) => ({
    summary: `${count === 1 ? 'a refund has' : `${count} refunds have`} waited for three days for a file, or for the API of a bank`,
    command: `svc explain ${id}`,
  }),
  statement_credit_of_failed: (item) => ({
    summary:
      'the bank has booked a payment that has failed here: its money is in no balance, unless it was added since',
    command: `svc reconcile --merchant ${merchant(item)}`,
  }),
  statement_debit_of_failed: (item) => ({
    summary:
      "the bank has made a payout or refund that has failed here: take it from the merchant's balance, less what came back",
    command: `svc reconcile --merchant ${merchant(item)}`,
  }),
  refund_returned: (item, canCorrect) =>
    canCorrect
      ? {
          summary: "a bank has returned a refund: add it to the merchant's balance",
          command: `svc statements credit ${item.id}`,
        }
      : {
          summary: "a bank has returned a refund: an OWNER adds it to the merchant's balance",
          command: `svc reconcile --merchant ${merchant(item)}`,
        },
  reconciliation_different: ({ count }) => ({
    summary: count === 1 ? 'the books have 1 difference' : `the books have ${count} differences`,
    command: 'svc reconcile --last',
  }),
  reconciliation_failed: () => ({
    summary: 'the daily reconciliation has failed and is tried again',
    command: 'svc reconcile --last',
  }),
}

/** The summary and the command for a merchant's team. */
const FOR_MERCHANTS: Partial<Record<InboxKind, Describe>> = {
  kyb_pending: ({ id }) => ({ summary: 'your account waits for approval', command: `svc explain ${id}` }),
  kyb_suspended: ({ id }) => ({
    summary: 'your account is suspended and cannot create payments; contact an operator',
    command: `svc explain ${id}`,
  }),
  payouts_held: ({ id }) => ({
    summary: 'your payouts are held and you cannot create payments; contact an operator',
    command: `svc explain ${id}`,
  }),
  dispute_evidence_due: ({ id }) => ({
    summary: 'a dispute waits for your evidence',
    command: `svc disputes show ${id}`,
  }),
  deliveries_dead: ({ count }) => ({
    summary: deadText(count, 'to you'),
    command: 'svc webhooks replay --status DEAD',
  }),
  webhook_endpoint_gone: () => ({
    summary: 'your webhook endpoint answers 410 Gone',
    command: 'svc webhooks endpoint show',
  }),
  secret_overlap_ending: () => ({
    summary: 'your previous signing secret expires at this time',
    command: 'svc secret show',
  }),
}

export type InboxView = {
  side: 'operator' | 'merchant'
  canCorrect: boolean
  dispute: InboxDispute | undefined
}

/** The summary and command of an item; the summary of a dispute names its amount and reason. */
export function describeItem(item: InboxRecord, { side, canCorrect, dispute }: InboxView): ItemText {
  const describe = (side === 'operator' ? FOR_OPERATORS : FOR_MERCHANTS)[item.kind]
  if (describe === undefined) throw new Error(`inbox items of kind ${item.kind} are not for the ${side}`)
  const text = describe(item, canCorrect)
  return dispute === undefined ? text : { ...text, summary: `${disputeText(dispute)}: ${text.summary}` }
}

/** `37.04 GBP item not received (a2b4358c)`: with the end of its id, because ids of one minute begin alike. */
function disputeText({ id, reason, gross_amount: amount, currency }: InboxDispute): string {
  return `${amountWithCurrency(amount, currency)} ${reason.toLowerCase().replaceAll('_', ' ')} (${id.slice(-8)})`
}
