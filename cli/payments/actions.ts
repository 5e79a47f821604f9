import { durationText } from '../../src/lib/duration.ts'
import { resolvePayment } from '../../src/wire/console.ts'
import { cancelPayment, completeSca } from '../../src/wire/payments.ts'
import { PAYOUT_FAILURES } from '../../src/wire/payouts.ts'
import { refundPayment } from '../../src/wire/refunds.ts'
import type { Refund } from '../../src/wire/refunds.ts'
import { CliError, usageError } from '../base/errors.ts'
import { amountLess, sumText } from '../base/money-text.ts'
import { endOfId } from '../base/text.ts'
import { action } from '../kit/action.ts'
import type { FlagValues } from '../kit/action.ts'
import { askUntil } from '../kit/wait.ts'
import { anyPayment, payment } from './subject.ts'
import type { ListedPayment } from './subject.ts'
import { printPayment, printRefund } from './view.ts'

function leftOf({ gross_amount: gross, refunded_amount: refunded, currency }: ListedPayment): string {
  return amountLess(gross, refunded, currency)
}

const refund = action({
  command: 'payments refund',
  summary: 'Refund a settled payment in full or in part',
  examples: ['svc payments refund a2b4358c', 'svc payments refund a2b4358c --amount 10.00 --reason "damaged"'],
  subject: payment,
  flags: {
    amount: { value: 'amount', summary: 'Amount of a partial refund (all that is left)', label: 'Amount', one: true },
    reason: { value: 'text', summary: 'Reason, stored with the refund', label: 'Reason', long: true },
    refundAmountAvailable: { value: 'amount', summary: 'Reject the refund unless exactly this amount is left' },
  },
  operation: refundPayment,
  applies: ({ status, gross_amount: gross, refunded_amount: refunded }) => status === 'Settled' && gross !== refunded,
  // What is left of it only the service knows: a refund that the bank has not answered yet is held.
  effect: ({ payment_id: id, gross_amount: gross, currency, payer_name: payer }, { amount }) =>
    `refund ${amount === undefined ? `all that is left of ${gross}` : amount} ${currency} to ${payer ?? 'the payer'} (payment ${endOfId(id)})`,
  effectOnAll: (things) =>
    `refund ${sumText(things.map((each) => [leftOf(each), each.currency]))} of ${things.length} payments to their payers`,
  facts: (thing) => `${thing.status}, ${leftOf(thing)} ${thing.currency} left`,
  done: ({ payment_id: id }, { refund_status: status }) => `refund of ${endOfId(id)} is ${status}`,
  confirm: true,
  key: { letter: 'r', label: 'refund' },
  initial: (thing) => ({ amount: leftOf(thing) }),
  // A refund by another caller in the meantime was not agreed to.
  asSeen: (thing) => ({ refundAmountAvailable: leftOf(thing) }),
  view: printRefund,
  wait: {
    summary: 'Wait for the bank if it does not answer at once',
    failures: ['REFUND_REFUSED'],
    // The same request under the same key is the same refund, and answers what has become of it (decision 21).
    async until({ client: { signal }, reply, again, timeoutMs, key }) {
      const last = isEnded(reply) ? reply : await askUntil(again, isEnded, timeoutMs, signal)
      return isEnded(last) ? { reply: last } : { reply: last, problem: notInTime(timeoutMs, key) }
    },
  },
})

function isEnded({ refund_status: status }: Refund): boolean {
  return status !== 'PENDING'
}

function notInTime(timeoutMs: number, key: string): CliError {
  return new CliError('WAIT_TIMED_OUT', `the bank has not answered the refund after ${durationText(timeoutMs)}`, {
    hint: `the same command with --idempotency-key ${key}, to wait for the same refund`,
    retryable: true,
  })
}

const cancel = action({
  command: 'payments cancel',
  summary: 'Cancel a payment that is not authorised yet',
  examples: ['svc payments cancel a2b4358c'],
  subject: payment,
  flags: {},
  operation: cancelPayment,
  applies: ({ status }) => status === 'Initiated' || status === 'AwaitingAuthorisation',
  effect: (thing) => `cancel ${payment.name(thing)}: its payer can't pay it any more`,
  facts: ({ status }) => status,
  done: ({ payment_id: id }) => `cancelled ${endOfId(id)}`,
  key: { letter: 'c', label: 'cancel' },
  view: (context, reply) => printPayment(context, reply),
})

export const PAYMENT_ACTIONS = [refund, cancel] as const

const sca = action({
  command: 'payments sca-complete',
  summary: 'Complete a bank redirect',
  examples: [
    'svc payments sca-complete a2b4358c --state xyz --code abc',
    'svc payments sca-complete a2b4358c --returned "https://shop.example/return?state=xyz&error=access_denied"',
  ],
  subject: payment,
  flags: {
    state: { value: 'state', summary: 'Parameter state of the redirect' },
    code: { value: 'code', summary: 'Parameter code, if the payer approved' },
    error: { value: 'code', summary: 'Parameter error, if the payer did not approve' },
    description: { value: 'text', summary: 'Parameter error_description', member: 'error_description' },
    returned: { value: 'address', summary: 'The whole redirect address, instead of its parameters' },
  },
  operation: completeSca,
  request: (id, values) => ({ params: { id }, body: redirectOf(values) }),
  effect: (thing) => `complete the bank redirect of ${payment.name(thing)}`,
  done: ({ payment_id: id }, { status }) => `${endOfId(id)} is ${status}`,
  view({ print }, completed) {
    const { failure } = completed
    print.record(completed, [
      ['Payment', completed.payment_id],
      ['Status', completed.status],
      ['Failure', failure === null ? '' : `${failure.code}: ${failure.reason}`],
      ['End-to-end id', completed.end_to_end_id],
    ])
  },
})

type Redirect = { state: string; code: string } | { state: string; error: string; error_description?: string }

/** From the flags, or from the whole address that the bank sent the payer back to. */
function redirectOf({ returned, ...values }: FlagValues): Redirect {
  const address = typeof returned === 'string' ? returned : undefined
  if (address !== undefined && !URL.canParse(address))
    throw usageError('--returned: is not an address', '--returned "https://shop.example/return?state=...&code=..."')
  const query = address === undefined ? new URLSearchParams() : new URL(address).searchParams
  const of = (flag: string, name = flag): string | undefined =>
    (address === undefined ? (values[flag] as string | undefined) : query.get(name)) ?? undefined
  const [state, code, error] = [of('state'), of('code'), of('error')]
  const description = of('description', 'error_description')
  if (state === undefined || (code === undefined) === (error === undefined))
    throw usageError(
      'what did the bank send back? --state with either --code or --error, or all of it as --returned <address>',
    )
  if (code !== undefined) return { state, code }
  return { state, error: error ?? '', ...(description === undefined ? {} : { error_description: description }) }
}

/** What the return page of a shop does; scenario files have a word of their own for it. */
export const REDIRECT_ACTIONS = [sca] as const

const resolve = action({
  command: 'payments resolve',
  summary: 'Resolve a payment whose bank was silent or late',
  details:
    'For payments that svc inbox names. Ask the bank first. With its id of the payment the service asks the bank itself, and settles what the bank has settled. --not-taken fails the payment: be sure, as a payer whose bank pays after all has paid for nothing. Where a bank has settled a payment that had failed, --returned and --credited say whose the money is; only an OWNER credits it.',
  examples: [
    'svc payments resolve a2b4358c --taken-as P-20261123-17 --reason "on the phone with the bank"',
    'svc payments resolve a2b4358c --not-taken --reason "not in the books of the bank"',
    'svc payments resolve a2b4358c --returned --reason "sent back to the payer today"',
  ],
  subject: anyPayment,
  flags: {
    takenAs: { value: 'id', summary: "The bank's id of the payment", member: 'bank_payment_id' },
    notTaken: { summary: 'The bank has no such order' },
    returned: { summary: 'Settled too late: the payer gets the money back' },
    credited: { summary: "Settled too late: the money is the merchant's (OWNER)" },
    code: { value: 'code', summary: 'With --not-taken: why', choices: PAYOUT_FAILURES, member: 'failure_code' },
    reason: { value: 'text', summary: 'Reason, for the audit trail', required: true },
  },
  operation: resolvePayment,
  request: (id, { takenAs, notTaken, returned, credited, code, reason }) => {
    const chosen = [
      takenAs === undefined ? [] : [{ outcome: 'TAKEN' as const, bank_payment_id: takenAs, reason }],
      notTaken === true ? [{ outcome: 'NOT_TAKEN' as const, failure_code: code, reason }] : [],
      returned === true ? [{ outcome: 'RETURNED' as const, reason }] : [],
      credited === true ? [{ outcome: 'CREDITED' as const, reason }] : [],
    ].flat()
    const [body] = chosen
    if (body === undefined || chosen.length > 1)
      throw usageError('one of --taken-as <id>, --not-taken, --returned and --credited')
    return { params: { id }, body }
  },
  facts: ({ status }) => status,
  effect: (thing, { takenAs, returned, credited }) => {
    const name = anyPayment.name(thing)
    if (takenAs !== undefined) return `have the bank asked about ${name}`
    if (credited === true) return `add the money of ${name} to its merchant's balance`
    return returned === true ? `record that the payer gets the money of ${name} back` : `fail ${name}`
  },
  done: ({ payment_id: id }, { status }) =>
    status === 'Failed' ? `${endOfId(id)} is resolved` : `the bank is asked about ${endOfId(id)}`,
  confirm: true,
  view: (context, reply) => printPayment(context, reply),
})

export const OPERATOR_ACTIONS = [resolve] as const
