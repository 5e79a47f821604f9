import { acceptDispute, escalateDispute, resolveDispute, submitEvidence } from '../../../src/wire/disputes.ts'
import { quoted } from '../../called-as.ts'
import { call } from '../../client.ts'
import { isResolved } from '../../commands/disputes/view.ts'
import type { ListedDispute } from '../../commands/disputes/view.ts'
import { endOfId } from '../../text.ts'
import type { Field } from '../model/modal.ts'
import type { ScreenKey } from '../screen.ts'
import { listed } from './merchant-text.ts'
import { sumText } from './money-text.ts'

function named(rows: readonly ListedDispute[]): string {
  const [row] = rows
  return rows.length === 1 && row !== undefined
    ? `the dispute of ${row.gross_amount} ${row.currency}`
    : `${rows.length} disputes`
}

function aboutOf(rows: readonly ListedDispute[]): string[] {
  return listed(rows, (row) => `${endOfId(row.id)}  ${row.reason}  ${row.gross_amount} ${row.currency}  ${row.status}`)
}

/** What moves with it: as much of each as is left. */
function refundText(rows: readonly ListedDispute[], isRefund: boolean): string {
  if (!isRefund) return '; no money moves'
  const left = sumText(rows.map((row) => [row.refundable_amount, row.currency]))
  return `, and refunds what is left: ${left} to the payer${rows.length === 1 ? '' : 's'}`
}

const NOTE: Field = {
  name: 'note',
  label: 'Why; both sides read it',
  kind: 'line',
  long: true,
  sent: 'resolution_note',
}
const PAYER_WITH_REFUND = 'payer, with refund'
const FAVOURS: readonly string[] = ['merchant', PAYER_WITH_REFUND, 'payer, without refund']

const resolve: ScreenKey<ListedDispute> = {
  key: 'r',
  label: 'resolve',
  writes: true,
  permission: 'operate merchants',
  fits: (row) => !isResolved(row),
  command: ({ id }, { favour = '...', note = '...' }) =>
    [
      `svc disputes resolve ${id}`,
      `--favour ${favour.startsWith('payer') ? 'payer' : favour}`,
      `--note ${quoted(note)}`,
      ...(favour === PAYER_WITH_REFUND ? ['--refund'] : []),
    ].join(' '),
  ask: (rows) => ({
    what: `resolve ${named(rows)}`,
    about: aboutOf(rows),
    fields: [{ name: 'favour', label: 'Who is right', kind: 'choice', words: FAVOURS }, NOTE],
    danger: dangerOf(rows),
    last: ({ favour = '' }) =>
      `resolves ${named(rows)} for the ${favour.startsWith('payer') ? 'payer' : 'merchant'}${refundText(rows, favour === PAYER_WITH_REFUND)}`,
  }),
  async run({ id }, { favour = '', note = '' }, { client }) {
    const isForPayer = favour.startsWith('payer')
    const body = {
      status: isForPayer ? ('RESOLVED_PAYER_FAVOUR' as const) : ('RESOLVED_MERCHANT_FAVOUR' as const),
      resolution_note: note,
      refund: favour === PAYER_WITH_REFUND,
    }
    await call(client, resolveDispute, { params: { id }, body })
    return `resolved ${endOfId(id)} for the ${isForPayer ? 'payer' : 'merchant'}`
  },
}

/** A refund of a resolution that the bank refused is ordered once more. */
const refundAgain: ScreenKey<ListedDispute> = {
  key: 'r',
  label: 'refund again',
  writes: true,
  permission: 'operate merchants',
  fits: ({ status, refund }) => status === 'RESOLVED_PAYER_FAVOUR' && refund?.refund_status === 'FAILED',
  command: ({ id }, { note = '...' }) => `svc disputes resolve ${id} --favour payer --note ${quoted(note)} --refund`,
  ask: (rows) => ({
    what: `order the refund of ${named(rows)} again, which the bank refused`,
    about: aboutOf(rows),
    fields: [NOTE],
    danger: dangerOf(rows),
    last: () => `orders the refund of ${named(rows)} again${refundText(rows, true)}`,
  }),
  async run({ id }, { note = '' }, { client }) {
    const body = { status: 'RESOLVED_PAYER_FAVOUR' as const, resolution_note: note, refund: true }
    await call(client, resolveDispute, { params: { id }, body })
    return `ordered the refund of ${endOfId(id)} again`
  },
}

function dangerOf([row]: readonly ListedDispute[]): (string | null)[] {
  return [row !== undefined && 'realm_slug' in row ? row.realm_slug : null, row?.merchant_id ?? null]
}

const escalate: ScreenKey<ListedDispute> = {
  key: 'x',
  label: 'escalate',
  writes: true,
  permission: 'operate merchants',
  fits: ({ status }) => status === 'OPEN' || status === 'UNDER_REVIEW',
  command: ({ id }, { reason = '...', assignee }) =>
    `svc disputes escalate ${id} --reason ${quoted(reason)}${assignee === undefined ? '' : ` --assignee ${quoted(assignee)}`}`,
  ask: (rows) => ({
    what: `escalate ${named(rows)}: an OWNER alone resolves it then`,
    about: aboutOf(rows),
    fields: [
      { name: 'reason', label: 'Why', kind: 'line', long: true },
      { name: 'assignee', label: 'Who shall see to it', kind: 'line', optional: true },
    ],
  }),
  async run({ id }, { reason = '', assignee }, { client }) {
    const body = { reason, ...(assignee === undefined ? {} : { assignee }) }
    await call(client, escalateDispute, { params: { id }, body })
    return `escalated ${endOfId(id)}`
  },
}

const EVIDENCE: Field = {
  name: 'text',
  label: 'Evidence; it is added to what is there',
  kind: 'line',
  long: true,
  sent: 'merchant_evidence',
}

const evidence: ScreenKey<ListedDispute> = {
  key: 'e',
  label: 'evidence',
  writes: true,
  permission: 'refund payments',
  for: 'merchant',
  needs: 'one',
  fits: (row) => !isResolved(row),
  command: ({ id }, { text = '...' }) => `svc portal disputes evidence ${id} --text ${quoted(text)}`,
  ask: (rows) => ({ what: `answer ${named(rows)}`, about: aboutOf(rows), fields: [EVIDENCE] }),
  async run({ id }, { text = '' }, { client }) {
    await call(client, submitEvidence, { params: { id }, body: { merchant_evidence: text } })
    return `answered ${endOfId(id)}`
  },
}

const REFUNDS: readonly string[] = ['without refund', 'with refund']

const accept: ScreenKey<ListedDispute> = {
  key: 'a',
  label: 'accept',
  writes: true,
  permission: 'refund payments',
  for: 'merchant',
  fits: ({ status }) => status === 'OPEN' || status === 'UNDER_REVIEW',
  command: ({ id }, { refund }) => `svc portal disputes accept ${id}${refund === 'with refund' ? ' --refund' : ''}`,
  ask: (rows) => ({
    what: `accept ${named(rows)}: it is over, in the payer's favour`,
    about: aboutOf(rows),
    fields: [{ name: 'refund', label: 'What is left of the payment', kind: 'choice', words: REFUNDS }],
    danger: [endOfId(rows[0]?.id ?? ''), rows[0]?.id ?? null],
    last: ({ refund }) => `accepts ${named(rows)}${refundText(rows, refund === 'with refund')}`,
  }),
  async run({ id }, { refund }, { client }) {
    await call(client, acceptDispute, { params: { id }, body: { refund: refund === 'with refund' } })
    return `accepted ${endOfId(id)}`
  },
}

const payment: ScreenKey<ListedDispute> = {
  key: 'o',
  label: 'its payment',
  needs: 'one',
  command: ({ payment_id: id }) => `svc explain ${id}`,
  async run({ payment_id: id }, _given, { go }) {
    go('payments', { open: id })
    return undefined
  },
}

/** What can be done about disputes; each stands as a command of `svc disputes` or `svc portal disputes` too. */
export const DISPUTE_KEYS: readonly ScreenKey<ListedDispute>[] = [
  resolve,
  refundAgain,
  escalate,
  evidence,
  accept,
  payment,
]
