import { RECENT_DELIVERIES, getMerchant } from '../../../src/wire/admin.ts'
import type { ListedMerchant } from '../../../src/wire/admin.ts'
import type { OperatorAction } from '../../../src/wire/audit.ts'
import { listAdminPayments } from '../../../src/wire/console.ts'
import type { AdminPaymentSummary, InboxItem } from '../../../src/wire/console.ts'
import { getFees } from '../../../src/wire/fees.ts'
import type { MerchantFees } from '../../../src/wire/fees.ts'
import { outcomeText } from '../../../src/lib/outcome-text.ts'
import { listRegistrations } from '../../../src/wire/registration.ts'
import type { Registration } from '../../../src/wire/registration.ts'
import { listOutbox } from '../../../src/wire/webhooks.ts'
import type { AdminDelivery } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { ACTION_COLUMNS, feeText, printMerchant } from '../../merchants/view.ts'
import { endOfId, minuteOf, shortTime } from '../../base/text.ts'
import { heading, keyText, line, pairs } from '../lines.ts'
import type { Line, Pair } from '../lines.ts'
import { ageOf } from '../model/ages.ts'
import { recordLines } from '../record-lines.ts'
import type { Layout, Reading } from '../screen.ts'
import { tableLines } from '../table-lines.ts'
import { statusStyle } from '../../payments/view.ts'

/** A merchant with what its registration still needs, or a registration that has made no merchant. */
export type MerchantRow = {
  id: string
  merchant: ListedMerchant | null
  registration: Registration | null
  /** How many deliveries to it are DEAD. */
  dead: number
}

/** A merchant with what belongs to it. */
export type WholeMerchant = {
  row: MerchantRow
  actions: readonly OperatorAction[]
  /** Undefined for roles that may not read them. */
  fees: MerchantFees | undefined
  dead: readonly AdminDelivery[]
  /** The newest deliveries, for how many of them arrive. */
  recent: readonly AdminDelivery[]
  payments: readonly AdminPaymentSummary[]
}

const OF_REGISTRATION = 'registration/'

/** What a registration is opened by: its merchant where it has made one. */
export function registrationId({
  merchant_id: id,
  realm_slug: slug,
}: Pick<InboxItem, 'merchant_id' | 'realm_slug'>): string {
  return id ?? `${OF_REGISTRATION}${slug ?? ''}`
}

export function rowOf(
  merchant: ListedMerchant | null,
  { registration, dead }: { registration: Registration | null; dead: number },
): MerchantRow {
  return { id: merchant?.id ?? `${OF_REGISTRATION}${registration?.slug ?? ''}`, merchant, registration, dead }
}

const SHOWN = 5
const COUNTED = 100

/** @throws {CliError} where there is no such merchant, or its registration needs no hand any more */
export async function readWhole({ client, who, arg: id }: Reading): Promise<WholeMerchant> {
  const { body: stuck } = await call(client, listRegistrations, {})
  const none = { actions: [], fees: undefined, dead: [], recent: [], payments: [] }
  if (id.startsWith(OF_REGISTRATION)) {
    const registration = stuck.data.find(({ slug }) => `${OF_REGISTRATION}${slug}` === id)
    if (registration === undefined)
      throw new CliError('REGISTRATION_DONE', 'this registration needs no hand any more', { exit: EXIT.notFound })
    return { ...none, row: rowOf(null, { registration, dead: 0 }) }
  }
  const query = { merchant_id: id }
  const [{ body }, fees, { body: dead }, { body: recent }, { body: payments }] = await Promise.all([
    call(client, getMerchant, { params: { id } }),
    who.permissions.includes('administer platform')
      ? call(client, getFees, { params: { id } }).then((reply) => reply.body)
      : undefined,
    call(client, listOutbox, { query: { ...query, status: 'DEAD', limit: COUNTED } }),
    call(client, listOutbox, { query: { ...query, limit: RECENT_DELIVERIES } }),
    call(client, listAdminPayments, { query: { ...query, limit: SHOWN } }),
  ])
  const { actions, ...merchant } = body
  const registration = stuck.data.find(({ merchant_id: merchantId }) => merchantId === id) ?? null
  const row = rowOf(merchant, { registration, dead: dead.data.length })
  return { row, actions, fees, dead: dead.data, recent: recent.data, payments: payments.data }
}

type Seen = { row: MerchantRow; whole: WholeMerchant | undefined }

/** A merchant as `svc merchants show` prints it. */
export function merchantRecord(merchant: ListedMerchant | null, width: number): Line[] {
  return merchant === null ? [] : recordLines(width, (context) => printMerchant(context, merchant))
}

/** A merchant in detail: who it is, whether it may work, what it pays, what it gets, and what operators did. */
export function merchantLines({ row, whole }: Seen, layout: Layout): Line[] {
  const { width } = layout
  const { registration } = row
  const needs: Line[] = (registration?.problems ?? []).map((problem) => line(`  ${problem}`, 'warn'))
  return [
    ...merchantRecord(row.merchant, width),
    ...pairs(registrationPairs(row, layout), width),
    ...(needs.length === 0 ? [] : [...heading(`Needs a hand${keyText(layout.keys, 'r', 'repairs it')}`), ...needs]),
    ...(row.merchant === null ? [] : whole === undefined ? [line('Loading ...', 'dim')] : wholeLines(whole, layout)),
  ]
}

function registrationPairs({ merchant, registration }: MerchantRow, { now }: Layout): Pair[] {
  if (registration === null) return []
  const { status, invited_at: invitedAt } = registration
  const own: Pair[] = [
    ['Registration', status, status === 'COMPLETE' ? 'good' : 'bad'],
    ['Failed because', registration.failure ?? '', 'bad'],
    ['Invited', invitedAt === null ? 'not yet' : shortTime(invitedAt)],
  ]
  if (merchant !== null) return own
  return [
    ['Realm', registration.slug],
    ['Name', registration.trading_name],
    ['Legal name', registration.company_name],
    ['Administrator', registration.admin_email],
    ...own,
    ['Begun', `${shortTime(registration.created_at)} (${ageOf(registration.created_at, now)} ago)`],
  ]
}

function wholeLines(whole: WholeMerchant, { width, keys }: Layout): Line[] {
  const { fees, dead, payments, actions } = whole
  const history = fees?.history ?? []
  return [
    ...heading('Webhooks'),
    deliveredLine(whole),
    ...(dead.length === 0 ? [] : tableLines(dead.slice(0, SHOWN), DELIVERIES, width)),
    ...heading(`Newest payments${keyText(keys, 'P', 'shows all')}`),
    ...(payments.length === 0 ? [line('None yet.', 'dim')] : tableLines(payments, PAYMENTS, width)),
    ...(history.length === 0 ? [] : [...heading('Fees before'), ...tableLines(history.slice(0, SHOWN), FEES, width)]),
    ...heading('What operators did'),
    ...(actions.length === 0 ? [line('Nothing yet.', 'dim')] : tableLines(actions, ACTION_COLUMNS, width)),
  ]
}

/** How many of the newest deliveries have arrived, of those that have ended. */
export function deliveredLine({ recent, dead }: Pick<WholeMerchant, 'recent' | 'dead'>): Line {
  const arrived = recent.filter(({ status }) => status === 'DELIVERED').length
  const ended = arrived + recent.filter(({ status }) => status === 'DEAD').length
  if (recent.length === 0) return line('None yet.', 'dim')
  const many = dead.length >= COUNTED ? `${COUNTED} or more` : String(dead.length)
  return [
    {
      text:
        ended === 0
          ? 'None has arrived yet; '
          : `${arrived} of the last ${ended} were delivered (${Math.floor((arrived * 100) / ended)}%); `,
    },
    { text: `${many} DEAD`, tone: dead.length === 0 ? 'good' : 'bad' },
  ]
}

const DELIVERIES: Parameters<typeof tableLines<AdminDelivery>>[1] = [
  { title: 'dead', value: (row) => endOfId(row.id) },
  { title: 'event', value: (row) => row.event_type },
  { title: 'created', value: (row) => shortTime(row.created_at), short: minuteOf },
  { title: 'last error', value: (row) => (row.last_error === null ? '' : outcomeText(row.last_error)), least: 8 },
]

const PAYMENTS: Parameters<typeof tableLines<AdminPaymentSummary>>[1] = [
  { title: 'id', value: (row) => endOfId(row.payment_id) },
  { title: 'status', value: (row) => row.status, style: statusStyle },
  { title: 'amount', value: (row) => row.gross_amount, align: 'right' },
  { title: 'cur', value: (row) => row.currency },
  { title: 'created', value: (row) => shortTime(row.created_at), short: minuteOf, dropped: 1 },
]

const FEES: Parameters<typeof tableLines<MerchantFees['history'][number]>>[1] = [
  { title: 'until', value: (row) => shortTime(row.changed_at), short: minuteOf },
  { title: 'fee', value: ({ before }) => feeText(before) },
  { title: 'changed by', value: (row) => row.changed_by, least: 12 },
  { title: 'why', value: (row) => row.reason ?? '', least: 12 },
]
