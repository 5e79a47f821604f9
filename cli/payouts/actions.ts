import { PAYOUT_ENDS, PAYOUT_FAILURES, failPayout, retryPayout } from '../../src/wire/payouts.ts'
import { failRefund } from '../../src/wire/refunds.ts'
import { endOfId } from '../base/text.ts'
import { action, wordSubject } from '../kit/action.ts'
import { payout } from './subject.ts'
import { printPayout } from './view.ts'

const reason = { reason: { value: 'text', summary: 'Reason, for the audit trail', required: true } } as const
const code = {
  code: { value: 'code', summary: 'What the bank says', choices: PAYOUT_FAILURES, member: 'failure_code' },
} as const

const end = {
  code: { ...code.code, summary: 'What the bank says, or that it is cancelled', choices: PAYOUT_ENDS },
} as const

const retry = action({
  command: 'payouts retry',
  summary: 'Send a failed or unanswered payout again',
  details:
    'After a failure or return a new payout takes the money now, also to an account that the bank has rejected. Without an answer the bank is asked again.',
  examples: ['svc payouts retry a2b4358c --reason "the bank has repaired it"'],
  subject: payout,
  flags: reason,
  operation: retryPayout,
  facts: ({ status }) => status,
  effect: (thing) => `send ${payout.name(thing)} again`,
  done: (thing, { payout_id: id }) =>
    id === thing.payout_id ? 'the bank is asked again' : `created the payout ${endOfId(id)}`,
  confirm: true,
  key: { letter: 'r', label: 'retry' },
  applies: ({ status, connector }) =>
    status === 'FAILED' || status === 'RETURNED' || (status !== 'PAID' && connector !== 'file'),
  view: printPayout,
})

const fail = action({
  command: 'payouts fail',
  summary: 'End a payout as failed, or cancel one that is not sent',
  details:
    'For banks that answer in no file: the money is in the balance again. Be sure: a payout that the bank has made after all would be paid twice.',
  examples: [
    'svc payouts fail a2b4358c --code ACCOUNT_CLOSED --reason "so the bank on the phone"',
    'svc payouts fail a2b4358c --code CANCELLED_BY_PLATFORM --reason "to the new account instead"',
  ],
  subject: payout,
  flags: { ...end, ...reason },
  operation: failPayout,
  facts: ({ status }) => status,
  effect: (thing, { code: given }) =>
    given === 'CANCELLED_BY_PLATFORM'
      ? `cancel ${payout.name(thing)} before it is sent`
      : `record that the bank has not made ${payout.name(thing)}`,
  done: (thing) => `${payout.name(thing)} has failed, and its money is in the balance again`,
  confirm: true,
  view: printPayout,
})

const failOfRefund = action({
  command: 'payouts fail-refund',
  summary: 'End a refund as failed',
  details:
    'For banks that answer in no file, and refunds that neither a file nor an API can take: the amount can be refunded again. Be sure: a refund that the bank has made after all would be paid twice.',
  examples: [
    'svc payouts fail-refund 01a1fd03-f879-7eb7-872f-a2b4358c4f6d --code ACCOUNT_CLOSED --reason "so the bank on the phone"',
  ],
  subject: wordSubject('refund', 'Its id, from svc statements missing'),
  flags: { ...code, ...reason },
  operation: failRefund,
  effect: ({ word }) => `record that the bank has not made the refund ${word}`,
  done: (_refund, { amount, currency }) => `the refund of ${amount} ${currency} has failed, and can be ordered again`,
  confirm: true,
  view: (context, { refund_id: id, payment_id: payment, ...refund }) =>
    context.print.record({ refund_id: id, payment_id: payment, ...refund }, [
      ['Refund', id],
      ['Payment', payment],
      ['Amount', `${refund.amount} ${refund.currency}`],
      ['Status', refund.refund_status],
      ['Failure', refund.failure?.code ?? ''],
    ]),
})

export const PAYOUT_ACTIONS = [retry, fail] as const
export const FILE_REFUND_ACTIONS = [failOfRefund] as const
