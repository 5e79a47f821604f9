import { getMerchant, listMerchants, setKybStatus } from '../../../src/wire/admin.ts'
import type { AdminMerchant, KybStatus } from '../../../src/wire/admin.ts'
import type { OperatorAction } from '../../../src/wire/audit.ts'
import type { OperationReply } from '../../../src/wire/operation.ts'
import { quoted } from '../../base/command-hints.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { findMerchant } from '../../merchants/find.ts'
import { actorText } from '../../base/role-text.ts'
import { minuteOf, shortTime } from '../../base/text.ts'
import { heading, pairs } from '../lines.ts'
import { AGE_WIDTH, ageOf } from '../model/ages.ts'
import type { Field, Given } from '../model/modal.ts'
import { screen } from '../screen.ts'
import type { ScreenKey } from '../screen.ts'
import { tableLines } from '../table-lines.ts'
import { feeText, listed } from './merchant-text.ts'

type Whole = OperationReply<typeof getMerchant>['body']

const REASON: Field = { name: 'reason', label: 'Why; it stands in the audit trail', kind: 'line', long: true }

/** What a choice of `approve` and `refuse` makes of a merchant. */
function decidedBy({ decision: verb }: Given): KybStatus {
  return verb === 'approve' ? 'APPROVED' : 'SUSPENDED'
}

function namedIn(rows: readonly AdminMerchant[]): string {
  return rows.length === 1 ? (rows[0]?.trading_name ?? '') : `${rows.length} merchants`
}

/** One decision about a merchant; each is a command of svc kyb too. */
function decision(
  key: string,
  verb: string,
  { from, to, past }: { from: KybStatus; to: KybStatus; past: string },
): ScreenKey<AdminMerchant> {
  return {
    key,
    label: verb,
    writes: true,
    permission: 'operate merchants',
    fits: ({ kyb_status }) => kyb_status === from,
    facts,
    command: ({ realm_slug, id }, { reason = '...' }) =>
      `svc kyb ${verb} ${realm_slug ?? id} --reason ${quoted(reason)}`,
    ask: (rows) => ({
      what: `${verb} ${namedIn(rows)}`,
      about: listed(rows, ({ legal_name, realm_slug }) => `${legal_name} (${realm_slug ?? 'no realm'})`),
      fields: [REASON],
      // Who takes no payments any more, or never will, is asked about twice in live mode.
      ...(to === 'SUSPENDED' ? { danger: dangerOf(rows), last: () => `${verb}s ${namedIn(rows)}` } : {}),
    }),
    optimistic: (row) => ({ ...row, kyb_status: to }),
    async run(row, { reason = '' }, { client }) {
      await decide(client, row, { to, reason })
      return `${past} ${row.trading_name}`
    },
  }
}

function facts({ kyb_status: status }: AdminMerchant): string {
  return status
}

function dangerOf([row]: readonly (AdminMerchant | undefined)[]): (string | null)[] {
  return [row?.realm_slug ?? null, row?.id ?? null]
}

/** Only where it still is as it was decided upon. @throws {CliError} CHANGED_MEANWHILE, exit code 7 */
async function decide(
  client: Client,
  { id, kyb_status: seen }: AdminMerchant,
  { to, reason }: { to: KybStatus; reason: string },
): Promise<void> {
  const body = { kyb_status: to, reason, expected: { kyb_status: seen } }
  await call(client, setKybStatus, { params: { id }, body })
}

/** The queue of merchants that wait for a decision, the oldest first (decision 19). */
export const kyb = screen<AdminMerchant, Whole>({
  name: 'kyb',
  key: '2',
  title: 'KYB queue',
  short: 'KYB',
  reads: ['read merchants'],
  list: {
    async read({ client, cursor, limit }) {
      const query = {
        kyb_status: 'PENDING' as const,
        order: 'oldest' as const,
        limit,
        ...(cursor === undefined ? {} : { cursor }),
      }
      const { body } = await call(client, listMerchants, { query })
      return { rows: body.data, next: body.next_cursor }
    },
    isDirty: (hint) => 'of' in hint && hint.of.includes('merchants'),
  },
  id: ({ id }) => id,
  names: ({ realm_slug: realm, trading_name: name }) => ({ merchant: [realm ?? '', name] }),
  columns: ({ now }) => [
    { title: 'name', value: (row) => row.trading_name, least: 12 },
    { title: 'realm', value: (row) => row.realm_slug ?? '', least: 10 },
    { title: 'waits', value: (row) => ageOf(row.created_at, now), align: 'right', floor: AGE_WIDTH },
    {
      title: 'kyb',
      value: (row) => row.kyb_status,
      style: (text) => (text === 'PENDING' ? 'yellow' : text === 'APPROVED' ? 'green' : 'red'),
    },
    { title: 'fee', value: feeText, dropped: 3 },
    { title: 'legal name', value: (row) => row.legal_name, least: 12, dropped: 2 },
    { title: 'administrator', value: (row) => row.admin_email ?? '', least: 16, dropped: 1 },
    { title: 'active', value: (row) => (row.is_active ? '' : 'disabled'), style: () => 'red' },
    { title: 'created', value: (row) => shortTime(row.created_at), onlyWide: true },
    { title: 'id', value: (row) => row.id, onlyWide: true },
  ],
  empty: 'No merchant waits for a decision.',
  detail: {
    title: (row) => `${row.trading_name} (${row.realm_slug ?? row.id})`,
    resource: {
      read: async ({ client, arg }) => (await call(client, getMerchant, { params: { id: arg } })).body,
      isDirty: (hint) => 'of' in hint && hint.of.includes('merchants'),
    },
    row: (whole) => whole,
    find: async (client, text) => (await findMerchant(client, [text])).merchant.id,
    lines: ({ row, whole }, { width, now }) => [
      ...pairs(
        [
          ['Merchant', row.id],
          ['Name', row.trading_name],
          ['Legal name', row.legal_name],
          ['Realm', row.realm_slug ?? ''],
          ['Client id', row.client_id],
          [
            'KYB',
            row.kyb_status,
            row.kyb_status === 'APPROVED' ? 'good' : row.kyb_status === 'PENDING' ? 'warn' : 'bad',
          ],
          ['Payouts', row.payout_held ? `held by ${row.payout_held_by ?? 'somebody'}` : 'not held'],
          ['Active', row.is_active ? 'yes' : 'no: disabled'],
          ['Administrator', row.admin_email ?? ''],
          ['Fee', feeText(row)],
          ['Webhooks go to', row.webhook_url ?? 'nowhere yet'],
          ['Created', `${shortTime(row.created_at)} (${ageOf(row.created_at, now)} ago)`],
        ],
        width,
      ),
      ...heading('What operators did'),
      ...actionLines(whole, width),
    ],
  },
  keys: [
    decision('a', 'approve', { from: 'PENDING', to: 'APPROVED', past: 'approved' }),
    decision('s', 'refuse', { from: 'PENDING', to: 'SUSPENDED', past: 'refused' }),
    // What is long to tell is written once it is known what it is for.
    {
      key: 'e',
      label: 'decide in $EDITOR',
      writes: true,
      permission: 'operate merchants',
      needs: 'one',
      fits: ({ kyb_status }) => kyb_status === 'PENDING',
      facts,
      command: ({ realm_slug, id }, { reason = '...', decision: verb = '...' }) =>
        `svc kyb ${verb} ${realm_slug ?? id} --reason ${quoted(reason)}`,
      ask: ([row]) => ({
        what: `decide on ${row?.trading_name ?? ''}`,
        about: [`${row?.legal_name ?? ''} (${row?.realm_slug ?? 'no realm'})`],
        fields: [
          { name: 'decision', label: 'Decision', kind: 'choice', words: ['approve', 'refuse'] },
          { ...REASON, opens: true },
        ],
        danger: dangerOf([row]),
        last: ({ decision: verb = '' }) => `${verb}s ${row?.trading_name ?? ''}`,
        act: ({ decision: verb = 'decide' }) => verb,
      }),
      optimistic: (row, given) => ({ ...row, kyb_status: decidedBy(given) }),
      async run(row, given, { client }) {
        const to = decidedBy(given)
        await decide(client, row, { to, reason: given['reason'] ?? '' })
        return `${to === 'APPROVED' ? 'approved' : 'refused'} ${row.trading_name}`
      },
    },
    decision('s', 'suspend', { from: 'APPROVED', to: 'SUSPENDED', past: 'suspended' }),
    decision('u', 'reinstate', { from: 'SUSPENDED', to: 'APPROVED', past: 'reinstated' }),
  ],
})

function actionLines(whole: Whole | undefined, width: number): ReturnType<typeof tableLines> {
  if (whole === undefined) return [[{ text: 'Loading ...', tone: 'dim' }]]
  if (whole.actions.length === 0) return [[{ text: 'Nothing yet.', tone: 'dim' }]]
  return tableLines<OperatorAction>(
    whole.actions,
    [
      { title: 'time', value: (action) => shortTime(action.created_at), short: minuteOf },
      { title: 'action', value: (action) => action.action },
      { title: 'who', value: actorText, short: (who) => who.replace(/ \(\w+\)$/, ''), least: 12 },
      { title: 'why', value: (action) => action.reason ?? '', least: 12 },
    ],
    width,
  )
}
