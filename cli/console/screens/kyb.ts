import { getMerchant, listMerchants } from '../../../src/wire/admin.ts'
import type { AdminMerchant } from '../../../src/wire/admin.ts'
import type { OperationReply } from '../../../src/wire/operation.ts'
import { call } from '../../client/call.ts'
import { KYB_ACTIONS } from '../../merchants/actions.ts'
import { feeText, printMerchant } from '../../merchants/view.ts'
import { findMerchant } from '../../merchants/find.ts'
import { actionKeys } from '../action-key.ts'
import { shortTime } from '../../base/text.ts'
import { AGE_WIDTH, ageOf } from '../../base/ages.ts'
import { screen } from '../screen.ts'
import { LOADING } from '../lines.ts'
import { recordLines } from '../record-lines.ts'

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
    lines: ({ row, whole }, { width }) => [
      ...recordLines(width, (context) => printMerchant(context, whole ?? row)),
      ...(whole === undefined ? LOADING : []),
    ],
  },
  keys: actionKeys(KYB_ACTIONS, WHOLE_MERCHANT),
})
