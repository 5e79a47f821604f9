import { resolveDispute } from '../../../src/wire/disputes.ts'
import { quoted } from '../../base/command-hints.ts'
import { call } from '../../client/call.ts'
import { seenOf } from '../../disputes/view.ts'
import type { ListedDispute } from '../../disputes/view.ts'
import { endOfId } from '../../base/text.ts'
import type { Field } from '../model/modal.ts'
import type { ScreenKey } from '../screen.ts'
import { aboutOf, facts, named, refundText } from './dispute-words.ts'

const NOTE: Field = {
  name: 'note',
  label: 'Why; both sides read it',
  kind: 'line',
  long: true,
  sent: 'resolution_note',
}
const PAYER_WITH_REFUND = 'payer, with refund'
const FAVOURS: readonly string[] = ['merchant', PAYER_WITH_REFUND, 'payer, without refund']

/** Whoever may do all has the keys of an owner, and no others for the same. */
const DECIDERS = {
  operator: { permission: 'operate merchants', lacks: 'administer platform' },
  owner: { permission: 'administer platform' },
} as const

function wasEscalated(row: ListedDispute): boolean {
  return 'escalation_reason' in row && row.escalation_reason !== null
}

/** The last word, for those who have it: what was escalated is an OWNER's affair (decision 24). */
export function resolving(whose: 'operator' | 'owner'): ScreenKey<ListedDispute> {
  return {
    key: 'r',
    label: 'resolve',
    writes: true,
    ...DECIDERS[whose],
    // While it is OPEN the merchant can still answer.
    fits: ({ status }) => status === 'UNDER_REVIEW' || (status === 'ESCALATED' && whose === 'owner'),
    facts,
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
      fields: [{ name: 'favour', label: 'Who is right', kind: 'choice', words: FAVOURS, asks: true }, NOTE],
      danger: dangerOf(rows),
      act: ({ favour = '' }) => (favour === '' ? 'resolve' : `resolve for the ${favour}`),
      last: ({ favour = '' }) =>
        `resolves ${named(rows)} for the ${favour.startsWith('payer') ? 'payer' : 'merchant'}${refundText(rows, favour === PAYER_WITH_REFUND)}`,
    }),
    async run(row, { favour = '', note = '' }, { client }) {
      const { id } = row
      const isForPayer = favour.startsWith('payer')
      const body = {
        status: isForPayer ? ('RESOLVED_PAYER_FAVOUR' as const) : ('RESOLVED_MERCHANT_FAVOUR' as const),
        resolution_note: note,
        refund: favour === PAYER_WITH_REFUND,
        expected: seenOf(row, favour === PAYER_WITH_REFUND),
      }
      await call(client, resolveDispute, { params: { id }, body })
      return `resolved ${endOfId(id)} for the ${isForPayer ? 'payer' : 'merchant'}`
    },
  }
}

/** A refund of a resolution that the bank refused is ordered once more. */
export function refundingAgain(whose: 'operator' | 'owner'): ScreenKey<ListedDispute> {
  return {
    key: 'r',
    label: 'refund again',
    writes: true,
    ...DECIDERS[whose],
    fits: (row) =>
      row.status === 'RESOLVED_PAYER_FAVOUR' &&
      row.refund?.refund_status === 'FAILED' &&
      (whose === 'owner' || !wasEscalated(row)),
    facts,
    command: ({ id }, { note = '...' }) => `svc disputes resolve ${id} --favour payer --note ${quoted(note)} --refund`,
    ask: (rows) => ({
      what: `order the refund of ${named(rows)} again, which the bank refused`,
      about: aboutOf(rows),
      fields: [NOTE],
      danger: dangerOf(rows),
      act: () => 'order the refund',
      last: () => `orders the refund of ${named(rows)} again${refundText(rows, true)}`,
    }),
    async run(row, { note = '' }, { client }) {
      const { id } = row
      const expected = seenOf(row, true)
      const body = { status: 'RESOLVED_PAYER_FAVOUR' as const, resolution_note: note, refund: true, expected }
      await call(client, resolveDispute, { params: { id }, body })
      return `ordered the refund of ${endOfId(id)} again`
    },
  }
}

function dangerOf([row]: readonly ListedDispute[]): (string | null)[] {
  return [row !== undefined && 'realm_slug' in row ? row.realm_slug : null, row?.merchant_id ?? null]
}
