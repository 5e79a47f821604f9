import { acceptDispute, escalateDispute, resolveDispute, submitEvidence } from '../../src/wire/disputes.ts'
import { sumText } from '../base/money-text.ts'
import { endOfId, shortTime } from '../base/text.ts'
import { distanceOf } from '../base/times.ts'
import { action } from '../kit/action.ts'
import { reason } from '../kit/read-values.ts'
import { anyDispute, dispute } from './subject.ts'
import { isResolved, printDispute } from './view.ts'
import type { ListedDispute } from './view.ts'

const facts = ({ status, refundable_amount: left, currency }: ListedDispute): string =>
  `${status}, ${left} ${currency} left to refund`

const isUndecided = ({ status }: ListedDispute): boolean => status === 'OPEN' || status === 'UNDER_REVIEW'

const note = {
  value: 'text',
  summary: 'Reason, shown to both sides and recorded in the audit trail',
  label: 'Why; both sides read it',
  long: true,
  required: true,
  member: 'resolution_note',
} as const

const refundFlag = {
  summary: 'Refund what is left of the payment',
  label: 'Refund what is left of it',
} as const

function theseOf(disputes: readonly ListedDispute[]): string {
  const [only] = disputes
  if (disputes.length !== 1 || only === undefined) return `${disputes.length} disputes`
  return 'trading_name' in only ? `${dispute.name(only)} at ${only.trading_name}` : dispute.name(only)
}

function refundText(disputes: readonly ListedDispute[], isRefund: boolean): string {
  if (!isRefund) return 'refund nothing'
  const left = sumText(disputes.map(({ refundable_amount: amount, currency }) => [amount, currency]))
  return `refund ${left}, all that is left of ${disputes.length === 1 ? 'it' : 'them'}`
}

const evidence = action({
  command: 'disputes evidence',
  summary: 'Submit evidence for a dispute',
  details:
    'Without --text and --file your editor opens (VISUAL, EDITOR), with the facts of the dispute below what you write.\nIt is added to your earlier evidence.',
  examples: [
    'svc disputes evidence a2b4358c',
    'svc disputes evidence a2b4358c --text "delivered on 3 May, signed for by the payer"',
    'svc disputes evidence a2b4358c --file proof.txt',
  ],
  subject: dispute,
  flags: {
    text: {
      value: 'words',
      summary: 'Text of the evidence',
      label: 'Evidence; it is added to what is there',
      member: 'merchant_evidence',
      required: true,
      long: true,
      file: true,
    },
  },
  operation: submitEvidence,
  applies: (thing) => !isResolved(thing),
  facts: ({ status }) => status,
  about: (thing) => [
    `Dispute ${thing.id}: ${thing.reason}, opened by ${thing.opened_by}`,
    `Payment ${thing.payment_id}, ${thing.gross_amount} ${thing.currency}, ${thing.end_to_end_id}`,
    `Evidence is due ${shortTime(thing.evidence_due_at)} (${distanceOf(thing.evidence_due_at)})`,
    ...said('The payer says:', thing.payer_statement),
    ...said('The statement that opened it:', thing.statement),
    ...('merchant_evidence' in thing
      ? said('Your evidence, to which this is added:', String(thing.merchant_evidence ?? ''))
      : []),
  ],
  effect: (thing) => `add evidence to ${theseOf([thing])}`,
  done: ({ id }) => `answered ${endOfId(id)}`,
  key: { letter: 'e', label: 'evidence', needs: 'one' },
  view: printDispute,
})

function said(title: string, words: string | null): string[] {
  return words === null || words === '' ? [] : ['', title, ...words.split('\n').map((line) => `  ${line}`)]
}

const accept = action({
  command: 'disputes accept',
  summary: "Accept a dispute in the payer's favour",
  details: "The dispute is resolved in the payer's favour and closed.",
  examples: [
    'svc disputes accept a2b4358c --refund',
    'svc disputes accept a2b4358c --note "refunded in cash" --dry-run',
  ],
  subject: dispute,
  flags: {
    refund: refundFlag,
    note: { value: 'text', summary: 'Message to the payer', label: 'A message to the payer', long: true },
  },
  operation: acceptDispute,
  expected: ['status', 'refundable_amount'],
  applies: isUndecided,
  facts,
  effect: (thing, { refund = false }) =>
    `close ${theseOf([thing])} in the payer's favour, and ${refundText([thing], refund)}`,
  effectOnAll: (all, { refund = false }) =>
    `close ${theseOf(all)} in the payer's favour, and ${refundText(all, refund)}`,
  done: ({ id }) => `accepted ${endOfId(id)}`,
  confirm: true,
  key: { letter: 'a', label: 'accept' },
  view: printDispute,
})

const escalate = action({
  command: 'disputes escalate',
  summary: 'Escalate a dispute to an OWNER',
  details: 'Only an OWNER can resolve it afterwards.',
  examples: ['svc disputes escalate a2b4358c --reason "a pattern of fraud" --assignee grace@pay.example'],
  subject: anyDispute,
  flags: {
    reason,
    assignee: {
      value: 'name',
      summary: 'Name of the assignee, free text',
      label: 'Who is to look at it',
    },
  },
  operation: escalateDispute,
  expected: ['status'],
  applies: isUndecided,
  facts: ({ status }) => status,
  effect: (thing) => `escalate ${theseOf([thing])}, from ${thing.status} to ESCALATED: only an OWNER resolves it then`,
  done: ({ id }) => `escalated ${endOfId(id)}`,
  key: { letter: 'x', label: 'escalate' },
  view: printDispute,
})

const STATUS_OF = { merchant: 'RESOLVED_MERCHANT_FAVOUR', payer: 'RESOLVED_PAYER_FAVOUR' } as const

const resolve = action({
  command: 'disputes resolve',
  summary: 'Resolve a dispute',
  details: "Resolves it in the merchant's or the payer's favour.",
  examples: [
    'svc disputes resolve a2b4358c --favour merchant --note "delivered and signed for"',
    'svc disputes resolve a2b4358c --favour payer --note "never sent" --refund --dry-run',
  ],
  subject: anyDispute,
  flags: {
    favour: {
      value: 'side',
      summary: 'Side that wins the dispute',
      label: 'Who is right',
      required: true,
      choices: ['merchant', 'payer'],
      member: 'status',
    },
    refund: refundFlag,
    note,
  },
  operation: resolveDispute,
  request: (id, { favour, refund = false, note: words }) => ({
    params: { id },
    body: { status: STATUS_OF[favour], resolution_note: words, refund },
  }),
  expected: ['status', 'refundable_amount'],
  // While it is OPEN the merchant can still answer.
  applies: ({ status }) => status === 'UNDER_REVIEW' || status === 'ESCALATED',
  // Only an OWNER resolves what was escalated (decision 24).
  restricted: { permission: 'administer platform', where: ({ status }) => status === 'ESCALATED' },
  facts,
  effect: (thing, { favour, refund = false }) =>
    `resolve ${theseOf([thing])} in the ${favour}'s favour, and ${refundText([thing], refund)}`,
  effectOnAll: (all, { favour, refund = false }) =>
    `resolve ${theseOf(all)} in the ${favour}'s favour, and ${refundText(all, refund)}`,
  done: ({ id }, { status }) => `resolved ${endOfId(id)} for the ${status === STATUS_OF.payer ? 'payer' : 'merchant'}`,
  confirm: true,
  key: { letter: 'r', label: 'resolve' },
  view: printDispute,
})

const refund = action({
  command: 'disputes refund',
  summary: 'Retry a refund that the bank rejected',
  examples: ['svc disputes refund a2b4358c --note "the account is open again"'],
  subject: anyDispute,
  flags: { note },
  operation: resolveDispute,
  request: (id, { note: words }) => ({
    params: { id },
    body: { status: STATUS_OF.payer, resolution_note: words, refund: true },
  }),
  expected: ['status', 'refundable_amount'],
  applies: (thing) => thing.status === STATUS_OF.payer && thing.refund?.refund_status === 'FAILED',
  restricted: {
    permission: 'administer platform',
    where: (thing) => 'escalation_reason' in thing && thing.escalation_reason !== null,
  },
  facts,
  effect: (thing) => `order the refund of ${theseOf([thing])} again: ${refundText([thing], true)}`,
  effectOnAll: (all) => `order the refunds of ${theseOf(all)} again: ${refundText(all, true)}`,
  done: ({ id }) => `ordered the refund of ${endOfId(id)} again`,
  confirm: true,
  key: { letter: 'r', label: 'refund again' },
  view: printDispute,
})

export const DISPUTE_ACTIONS = [evidence, accept, escalate, resolve, refund] as const
