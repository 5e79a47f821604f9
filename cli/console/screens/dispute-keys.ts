import { acceptDispute, escalateDispute, submitEvidence } from '../../../src/wire/disputes.ts'
import { quoted } from '../../base/command-hints.ts'
import { call } from '../../client/call.ts'
import { isResolved, seenOf } from '../../disputes/view.ts'
import type { ListedDispute } from '../../disputes/view.ts'
import { endOfId } from '../../base/text.ts'
import type { Field } from '../model/modal.ts'
import type { ScreenKey } from '../screen.ts'
import { refundingAgain, resolving } from './dispute-resolve-keys.ts'
import { aboutOf, facts, named, refundText } from './dispute-words.ts'
import { explainText } from './merchant-text.ts'

const escalate: ScreenKey<ListedDispute> = {
  key: 'x',
  label: 'escalate',
  writes: true,
  permission: 'operate merchants',
  fits: ({ status }) => status === 'OPEN' || status === 'UNDER_REVIEW',
  facts: ({ status }) => status,
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
  async run(row, { reason = '', assignee }, { client }) {
    const { id } = row
    const body = { reason, ...(assignee === undefined ? {} : { assignee }), expected: seenOf(row, false) }
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
  facts: ({ status }) => status,
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
  facts,
  command: ({ id }, { refund }) => `svc portal disputes accept ${id}${refund === 'with refund' ? ' --refund' : ''}`,
  ask: (rows) => ({
    what: `accept ${named(rows)}: it is over, in the payer's favour`,
    about: aboutOf(rows),
    fields: [{ name: 'refund', label: 'What is left of the payment', kind: 'choice', words: REFUNDS, asks: true }],
    danger: [endOfId(rows[0]?.id ?? ''), rows[0]?.id ?? null],
    last: ({ refund }) => `accepts ${named(rows)}${refundText(rows, refund === 'with refund')}`,
  }),
  async run(row, { refund }, { client }) {
    const { id } = row
    const isRefund = refund === 'with refund'
    await call(client, acceptDispute, { params: { id }, body: { refund: isRefund, expected: seenOf(row, isRefund) } })
    return `accepted ${endOfId(id)}`
  },
}

const payment: ScreenKey<ListedDispute> = {
  key: 'o',
  label: 'its payment',
  needs: 'one',
  command: ({ payment_id: id }, _given, { kind }) => explainText(id, kind),
  async run({ payment_id: id }, _given, { go }) {
    go('payments', { open: id })
    return undefined
  },
}

/** What can be done about disputes; each stands as a command of `svc disputes` or `svc portal disputes` too. */
export const DISPUTE_KEYS: readonly ScreenKey<ListedDispute>[] = [
  ...(['operator', 'owner'] as const).flatMap((whose) => [resolving(whose), refundingAgain(whose)]),
  escalate,
  evidence,
  accept,
  payment,
]
