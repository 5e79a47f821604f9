import { resolveStatementLine } from '../../src/wire/statements.ts'
import { action } from '../kit/action.ts'
import { statementLine } from './subject.ts'
import { printLine } from './view.ts'

const resolve = action({
  command: 'statements resolve',
  summary: 'Resolve an unmatched line by hand',
  details:
    'With --payment, for a debit also --refund, or with --payout, the line is that movement. Without them the reason alone explains it, such as the fee of the bank.',
  examples: [
    'svc statements resolve 4f7a1c9e --payment 01a1fd03-f879-7eb7-872f-a2b4358c4f6d --reason "the payer left the reference out"',
    `svc statements resolve 4f7a1c9e --reason "the bank's fee of November"`,
  ],
  subject: statementLine,
  flags: {
    payment: { value: 'id', summary: 'Payment that the line is', member: 'payment_id' },
    refund: { value: 'id', summary: 'Refund of that payment that the line is', member: 'refund_id' },
    payout: { value: 'id', summary: 'Payout that the line is', member: 'payout_id' },
    reason: { value: 'text', summary: 'Reason, for the audit trail', required: true },
  },
  operation: resolveStatementLine,
  request: (id, { payment, refund, payout, reason }) => ({
    params: { id },
    body: {
      reason,
      ...(payment === undefined ? {} : { payment_id: payment }),
      ...(refund === undefined ? {} : { refund_id: refund }),
      ...(payout === undefined ? {} : { payout_id: payout }),
    },
  }),
  effect: (line, { payment, payout }) =>
    (payment ?? payout) === undefined
      ? `explain ${statementLine.name(line)}`
      : `match ${statementLine.name(line)} with ${payment ?? payout}`,
  done: (line) => `resolved ${statementLine.name(line)}`,
  confirm: true,
  view: printLine,
})

/** What is done to lines of bank statements. */
export const STATEMENT_ACTIONS = [resolve] as const
