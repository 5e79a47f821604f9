import { creditReturnedRefund, listStatementLines, resolveStatementLine } from '../../src/wire/statements.ts'
import type { StatementLine } from '../../src/wire/statements.ts'
import { action, wordSubject, rowSubject } from '../kit/action.ts'
import { notFound, resolveId, rowsIn } from '../kit/resolve-id.ts'
import { printCorrection } from '../merchants/view.ts'
import { printLine } from './view.ts'

const statementLine = rowSubject<StatementLine>(
  {
    noun: 'line',
    summary: 'Its id, or at least its last 8 characters (an unmatched line)',
    id: ({ id }) => id,
    name: ({ direction, amount, currency, booked_on: day }) =>
      `the ${direction.toLowerCase()} of ${amount} ${currency} on ${day}`,
  },
  async (client, given) => {
    const noun = 'unmatched statement line'
    const lines: StatementLine[] = []
    for await (const line of rowsIn(client, listStatementLines, { state: 'unmatched' })) lines.push(line)
    const id = await resolveId(given, noun, async () => lines.map((line) => line.id))
    const thing = lines.find((line) => line.id === id)
    if (thing === undefined) throw notFound(given, noun)
    return thing
  },
)

const resolve = action({
  command: 'statements resolve',
  summary: 'Resolve an unmatched line by hand',
  details:
    'With --payment, for a refund also --refund, or with --payout, the line is that movement. Without them the reason alone explains it, such as the fee of the bank.',
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
  effect: (line, { payment, payout }) =>
    (payment ?? payout) === undefined
      ? `explain ${statementLine.name(line)}`
      : `match ${statementLine.name(line)} with ${payment ?? payout}`,
  done: (line) => `resolved ${statementLine.name(line)}`,
  confirm: true,
  view: printLine,
})

const credit = action({
  command: 'statements credit',
  summary: "Add a returned refund to the merchant's balance",
  details:
    'Only an OWNER does this: it corrects the balance. The next settlement has it as a line. The payer has not got the money: the merchant asks for another account, or pays by other means.',
  examples: [
    'svc statements credit 01a1fd03-f879-7eb7-872f-a2b4358c4f6d --reason "the account of the payer is closed"',
  ],
  subject: wordSubject('line', 'Id of the line that is the returned refund, from svc inbox'),
  flags: { reason: { value: 'text', summary: 'Reason, for the audit trail', required: true } },
  operation: creditReturnedRefund,
  effect: ({ word }) => `add the refund that came back with the line ${word} to its merchant's balance`,
  done: (_line, { amount, currency }) => `${amount} ${currency} is in the merchant's balance`,
  confirm: true,
  view: printCorrection,
})

export const STATEMENT_ACTIONS = [resolve, credit] as const
