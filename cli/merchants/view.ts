import { percentText } from '../../src/lib/money.ts'
import { AdminMerchant } from '../../src/wire/admin.ts'
import type { ListedMerchant } from '../../src/wire/admin.ts'
import type { OperatorAction } from '../../src/wire/audit.ts'
import type { Correction } from '../../src/wire/ledger.ts'
import type { MerchantLimits } from '../../src/wire/limits.ts'
import type { OperationReply } from '../../src/wire/operation.ts'
import type { repairRegistration } from '../../src/wire/registration.ts'
import type { Style } from '../base/io.ts'
import { actorText } from '../base/role-text.ts'
import { dayOf, endOfId, minuteOf, shortTime } from '../base/text.ts'
import type { Context } from '../kit/context.ts'
import { tableBelow, stylesOf } from '../output/table.ts'
import type { Column } from '../output/table.ts'

/** What a merchant pays, in one form everywhere: `1.25% + 0.20`. */
export function feeText({
  fee_percentage: share,
  fee_flat: flat,
}: Record<'fee_percentage' | 'fee_flat', string>): string {
  return `${percentText(share)} + ${flat}`
}

/** Which payments a merchant may take: `up to 500.00 in GBP or EUR`. */
export function limitsText({ currencies, payment_amount_max: max }: Omit<MerchantLimits, 'merchant_id'>): string {
  return `up to ${max} in ${currencies.join(' or ')}`
}

export function printCorrection({ print }: Context, made: Correction): void {
  print.record(made, [
    ['Correction', made.correction_id],
    ['Merchant', made.merchant_id],
    ['Amount', `${made.amount} ${made.currency}`],
    ['Against', made.booked_against],
    ['Reference', made.reference ?? ''],
    ['Payment', made.payment_id ?? ''],
    ['Created', `${shortTime(made.created_at)} by ${made.created_by}`],
  ])
}

export function printLimits(
  { print }: Context,
  merchant: Pick<AdminMerchant, 'trading_name'>,
  limits: MerchantLimits,
): void {
  print.record(
    limits,
    [
      ['Merchant', merchant.trading_name],
      ['Currencies', limits.currencies.join(', ')],
      ['Largest payment', limits.payment_amount_max],
    ],
    { id: limits.merchant_id },
  )
}

/** Of a KYB status, or the status of a registration. */
export const kybStyle = stylesOf({ APPROVED: 'green', COMPLETE: 'green', SUSPENDED: 'red', FAILED: 'red' }, 'yellow')

/** How many of the newest deliveries that have ended arrived, as `98%`; empty where none has ended. */
export function deliveredText({ recent_deliveries: recent }: ListedMerchant): string {
  if (recent === undefined || recent.delivered + recent.dead === 0) return ''
  // Rounded down: less than all is never shown as all.
  return `${Math.floor((recent.delivered * 100) / (recent.delivered + recent.dead))}%`
}

export function deliveredStyle(text: string): Style | undefined {
  return text === '100%' || text === '' ? undefined : 'yellow'
}

export type MerchantList = {
  items: readonly ListedMerchant[]
  empty: string
  /** Whether it was asked how their deliveries end. */
  deliveries?: boolean
}

export function printMerchants({ print }: Context, { items, empty, deliveries = false }: MerchantList): void {
  print.list(items, {
    fields: [...Object.keys(AdminMerchant.shape), ...(deliveries ? ['recent_deliveries'] : [])],
    columns: [
      { title: 'id', value: (row) => row.id, short: endOfId },
      { title: 'realm', value: (row) => row.realm_slug ?? '', least: 16 },
      { title: 'name', value: (row) => row.trading_name, least: 12 },
      { title: 'kyb', value: (row) => row.kyb_status, style: kybStyle },
      { title: 'payouts', value: (row) => (row.payout_held ? 'held' : ''), style: () => 'red' },
      { title: 'active', value: (row) => (row.is_active ? '' : 'disabled'), style: () => 'red' },
      ...(deliveries
        ? [{ title: 'delivered', value: deliveredText, style: deliveredStyle, align: 'right' as const }]
        : []),
      { title: 'administrator', value: (row) => row.admin_email ?? '', dropped: 2, least: 16 },
      { title: 'created', value: (row) => shortTime(row.created_at), short: dayOf, dropped: 1 },
    ],
    empty,
  })
}

export function printMerchant(
  { print }: Pick<Context, 'print'>,
  merchant: AdminMerchant & { actions?: OperatorAction[] },
): void {
  const { actions = [] } = merchant
  print.record(
    merchant,
    [
      ['Merchant', merchant.id],
      ['Name', merchant.trading_name],
      ['Legal name', merchant.legal_name],
      ['Realm', merchant.realm_slug ?? ''],
      ['Client id', merchant.client_id],
      ['KYB', merchant.kyb_status],
      ['Payouts', merchant.payout_held ? heldText(merchant) : 'not held'],
      ['Active', merchant.is_active ? 'yes' : 'no: disabled, sign-ins are rejected'],
      ['Administrator', merchant.admin_email ?? ''],
      ['Fee', feeText(merchant)],
      ['Payments', limitsText(merchant)],
      ['Webhooks go to', merchant.webhook_url ?? ''],
      ['Created', shortTime(merchant.created_at)],
      ['Changed', shortTime(merchant.updated_at)],
    ],
    { after: tableBelow(print, actions, ACTION_COLUMNS) },
  )
}

type Repaired = OperationReply<typeof repairRegistration>['body']

export function printRepaired({ print }: Context, repaired: Repaired): void {
  print.record(repaired, [
    ['Realm', repaired.slug],
    ['Status', repaired.status],
    ['Repaired', repaired.repaired.join('; ') || 'nothing had to be'],
  ])
}

function heldText({ payout_held_by, payout_held_at }: AdminMerchant): string {
  const by = payout_held_by === null ? '' : ` by ${payout_held_by}`
  return `held${by}${payout_held_at === null ? '' : ` since ${shortTime(payout_held_at)}`}`
}

const ACTION_COLUMNS: readonly Column<OperatorAction>[] = [
  { title: 'time', value: (action) => shortTime(action.created_at), short: minuteOf },
  { title: 'action', value: (action) => action.action },
  { title: 'who', value: actorText, short: (who) => who.replace(/ \(\w+\)$/, ''), least: 24 },
  { title: 'why', value: (action) => action.reason ?? '', least: 16 },
]
