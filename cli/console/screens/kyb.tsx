import { getMerchant, listMerchants } from '../../../src/wire/admin.ts'
import type { AdminMerchant } from '../../../src/wire/admin.ts'
import type { OperatorAction } from '../../../src/wire/audit.ts'
import type { OperationReply } from '../../../src/wire/operation.ts'
import { call } from '../../client/call.ts'
import { KYB_ACTIONS } from '../../merchants/actions.ts'
import { findMerchant } from '../../merchants/find.ts'
import { actionKeys } from '../action-key.ts'
import { actorText } from '../../base/role-text.ts'
import { minuteOf, shortTime } from '../../base/text.ts'
import { heading, pairs } from '../lines.ts'
import { AGE_WIDTH, ageOf } from '../model/ages.ts'
import { screen } from '../screen.ts'
import { tableLines } from '../table-lines.ts'
import { feeText } from './merchant-text.ts'

const WHOLE_MERCHANT = {
  get: (row: AdminMerchant) => row,
  set: (_row: AdminMerchant, merchant: AdminMerchant) => merchant,
}

type Whole = OperationReply<typeof getMerchant>['body']

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
  keys: actionKeys(KYB_ACTIONS, WHOLE_MERCHANT),
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
