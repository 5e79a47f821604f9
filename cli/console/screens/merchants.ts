import { KybStatus, listMerchants } from '../../../src/wire/admin.ts'
import type { OperationInput } from '../../../src/wire/operation.ts'
import { getInbox } from '../../../src/wire/console.ts'
import { listRegistrations, registerMerchant } from '../../../src/wire/registration.ts'
import { quoted } from '../../base/command-hints.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { ACTIVE_ACTIONS, HOLD_ACTIONS, KYB_ACTIONS } from '../../merchants/actions.ts'
import { findMerchantByPart } from '../../merchants/find.ts'
import { registeredLines } from '../../merchants/register.ts'
import { TERMS_ACTIONS, REPAIR_ACTIONS } from '../../merchants/setup-actions.ts'
import { deliveredStyle, deliveredText, feeText, kybStyle, printMerchant } from '../../merchants/view.ts'
import { shortTime } from '../../base/text.ts'
import { actionKeys } from '../action-key.ts'
import { AGE_WIDTH, ageOf } from '../../base/ages.ts'
import { leadingKey, pageOf, screen } from '../screen.ts'
import type { Hint, Page, Reading, ScreenKey } from '../screen.ts'
import { ofMerchant, oneOf, readFilter } from './merchant-text.ts'
import { readWhole, registrationLines, rowOf } from './merchant-detail.ts'
import type { MerchantRow, WholeMerchant } from './merchant-detail.ts'

const registerKey: ScreenKey<MerchantRow> = {
  key: 'n',
  label: 'register',
  writes: true,
  permission: 'operate merchants',
  on: 'list',
  needs: 'nothing',
  command: (_row, { company_name: company = '...', trading_name: name = '...', admin_email: email = '...' }) =>
    `svc register --company ${quoted(company)} --trading-name ${quoted(name)} --email ${quoted(email)}`,
  ask: () => ({
    what: 'register a merchant',
    about: ['It waits for KYB approval then. Its administrator is invited by mail; its secrets are shown once.'],
    fields: [
      { name: 'company_name', label: 'Legal name; the realm is named after it', kind: 'line' },
      { name: 'trading_name', label: 'Trading name, which payers see', kind: 'line' },
      { name: 'admin_email', label: 'Address of the first administrator', kind: 'line' },
    ],
  }),
  async run(_row, { company_name = '', trading_name = '', admin_email = '' }, { client, show }) {
    const { body } = await call(client, registerMerchant, { body: { company_name, trading_name, admin_email } })
    const lines = registeredLines(body).flatMap(([label, text]) => (text === '' ? [] : [`${label}: ${text}`]))
    show(`Registered ${trading_name}`, [...lines, '', 'Keep the secrets now: they are shown this once.'], {
      isOnce: true,
    })
    return `registered ${trading_name}`
  },
}

const WHOSE = {
  get: ({ merchant }: MerchantRow) => merchant,
  set: (row: MerchantRow, merchant: MerchantRow['merchant']) => ({ ...row, merchant }),
}

const KEYS: readonly ScreenKey<MerchantRow>[] = [
  ...actionKeys([...HOLD_ACTIONS, ...TERMS_ACTIONS, ...ACTIVE_ACTIONS, ...KYB_ACTIONS], WHOSE),
  ...actionKeys(REPAIR_ACTIONS, {
    get: (row: MerchantRow) => (row.registration === null ? null : { word: handleOf(row) }),
    set: (row) => row,
  }),
  leadingKey<MerchantRow>({
    key: 'P',
    label: 'payments',
    fits: ({ merchant }) => merchant !== null,
    command: (row) => `svc payments list --merchant ${handleOf(row)}`,
    to: ({ id }) => ['payments', { filter: ofMerchant(id) }],
  }),
  leadingKey<MerchantRow>({
    key: 'd',
    label: 'details',
    on: 'list',
    command: (row) => (row.merchant === null ? 'svc merchants registrations' : `svc merchants show ${handleOf(row)}`),
    to: ({ id }) => ['merchants', { open: id }],
  }),
  registerKey,
]

export const merchants = screen<MerchantRow, WholeMerchant>({
  name: 'merchants',
  key: '3',
  title: 'Merchants',
  short: 'Merch',
  noun: 'merchant',
  reads: ['read merchants'],
  list: { read: readPage, isDirty: isAboutMerchants },
  serviceFilter: (filter) => filter,
  serviceLooksFor: 'a status, held, disabled or a part of a name',
  id: ({ id }) => id,
  names: (row) => ({ merchant: [realmOf(row), nameOf(row)] }),
  columns: ({ now }) => [
    { title: 'name', value: (row) => nameOf(row), least: 12 },
    { title: 'realm', value: (row) => realmOf(row), least: 10 },
    { title: 'kyb', value: (row) => row.merchant?.kyb_status ?? row.registration?.status ?? '', style: kybStyle },
    { title: 'stopped', value: stoppedText, style: () => 'red' },
    { title: 'dead', value: (row) => (row.dead === 0 ? '' : String(row.dead)), align: 'right', style: () => 'red' },
    {
      title: 'delivered',
      value: ({ merchant }) => (merchant === null ? '' : deliveredText(merchant)),
      style: deliveredStyle,
      align: 'right',
      dropped: 6,
    },
    {
      title: 'needs',
      value: ({ registration }) => registration?.problems.join('; ') ?? '',
      style: () => 'yellow',
      least: 18,
      dropped: 5,
    },
    { title: 'fee', value: ({ merchant }) => (merchant === null ? '' : feeText(merchant)), dropped: 3 },
    { title: 'legal name', value: legalNameOf, least: 12, dropped: 2 },
    { title: 'age', value: (row) => ageOf(createdAt(row), now), align: 'right', floor: AGE_WIDTH, dropped: 4 },
    {
      title: 'administrator',
      value: (row) => row.merchant?.admin_email ?? row.registration?.admin_email ?? '',
      least: 16,
      dropped: 1,
    },
    { title: 'created', value: (row) => shortTime(createdAt(row)), onlyWide: true },
    { title: 'webhooks go to', value: (row) => row.merchant?.webhook_url ?? '', onlyWide: true },
    { title: 'client id', value: (row) => row.merchant?.client_id ?? '', onlyWide: true },
    // The words that the service is asked for; a row that it found has them.
    { title: 'is', value: wordsOf, onlyWide: true },
    { title: 'id', value: (row) => row.id, onlyWide: true },
  ],
  empty: 'There are no merchants yet: svc register',
  detail: {
    title: (row) => `${nameOf(row)} (${handleOf(row)})`,
    read: readWhole,
    row: ({ row }) => row,
    find: findMerchantByPart,
    above: registrationLines,
    print(context, { row: { merchant }, whole }) {
      if (merchant !== null) printMerchant(context, { ...merchant, actions: whole?.actions ?? [] })
    },
  },
  keys: KEYS,
})

const { noun: _noun, serviceFilter: _asked, serviceLooksFor: _words, ...WHOLE_LIST } = merchants

/** What is not known, or not yet, of merchants that wait. */
const OF_MERCHANTS: ReadonlySet<string> = new Set(['dead', 'delivered', 'needs', 'is'])

/** The merchants that wait for a decision, the oldest first (decision 19). */
export const kyb: typeof merchants = {
  ...WHOLE_LIST,
  name: 'kyb',
  key: '2',
  title: 'KYB queue',
  short: 'KYB',
  list: {
    async read({ client, page }) {
      const query = { ...page, kyb_status: 'PENDING' as const, order: 'oldest' as const }
      const { body } = await call(client, listMerchants, { query })
      return pageOf({ ...body, data: body.data.map((merchant) => rowOf(merchant, { registration: null, dead: 0 })) })
    },
    isDirty: isAboutMerchants,
  },
  columns: (layout) => merchants.columns(layout).filter(({ title }) => !OF_MERCHANTS.has(title)),
  empty: 'No merchant waits for a decision.',
  keys: actionKeys(KYB_ACTIONS, WHOSE),
}

function isAboutMerchants(hint: Hint): boolean {
  return 'of' in hint && (hint.of.includes('merchants') || hint.of.includes('deliveries'))
}

function nameOf({ merchant, registration, id }: MerchantRow): string {
  return merchant?.trading_name ?? registration?.trading_name ?? id
}

/** Where it is another than the one that people know it by. */
function legalNameOf(row: MerchantRow): string {
  const name = row.merchant?.legal_name ?? row.registration?.company_name ?? ''
  return name === nameOf(row) ? '' : name
}

function realmOf({ merchant, registration }: MerchantRow): string {
  return merchant?.realm_slug ?? registration?.slug ?? ''
}

function stoppedText({ merchant }: MerchantRow): string {
  if (merchant === null) return ''
  const { payout_held: isHeld, is_active: isActive } = merchant
  if (isHeld) return isActive ? 'held' : 'held, off'
  return isActive ? '' : 'disabled'
}

function handleOf(row: MerchantRow): string {
  return realmOf(row) === '' ? row.id : realmOf(row)
}

function createdAt({ merchant, registration }: MerchantRow): string | null {
  return merchant?.created_at ?? registration?.created_at ?? null
}

function wordsOf({ merchant, registration }: MerchantRow): string {
  if (merchant === null) return 'registration'
  const { payout_held: isHeld, is_active: isActive, kyb_status: status } = merchant
  const words = [status, isHeld ? 'held' : 'released', isActive ? 'enabled' : 'disabled']
  return [...words, ...(registration === null ? [] : ['registration'])].join(' ')
}

type Query = OperationInput<typeof listMerchants>['query']

const WORDS = {
  kyb_status: oneOf(KybStatus.options),
  payout_held: (word: string) => (word === 'held' ? ('true' as const) : undefined),
  is_active: (word: string) => (word === 'disabled' ? ('false' as const) : undefined),
}
/** Words of the table that the service is not asked for. */
const SHOWN: ReadonlySet<string> = new Set(['released', 'enabled', 'registration'])

/** What the service is asked for: a status, held, disabled, and the rest as a part of a name. */
export function queryOf(filter: string) {
  const { query, others } = readFilter<Pick<NonNullable<Query>, keyof typeof WORDS>>(filter, WORDS)
  const rest = others.filter((word) => !SHOWN.has(word))
  // Names and realms are all that it looks in: a part of an address or an id is looked for in what is here.
  const isName = rest.length > 0 && rest.every((word) => !word.includes('@') && !/^[0-9a-f-]{8,}$/i.test(word))
  return { ...query, ...(isName ? { search: rest.join(' ') } : {}) }
}

async function readPage({ client, filter, cursor, page }: Reading): Promise<Page<MerchantRow>> {
  const [{ body }, { body: stuck }, dead] = await Promise.all([
    call(client, listMerchants, { query: { ...page, ...queryOf(filter), include: 'recent_deliveries' } }),
    call(client, listRegistrations, {}),
    deadOf(client),
  ])
  const stuckOf = Map.groupBy(stuck.data, ({ merchant_id: id }) => id)
  const rows = body.data.map((merchant) =>
    rowOf(merchant, { registration: stuckOf.get(merchant.id)?.[0] ?? null, dead: dead.get(merchant.id) ?? 0 }),
  )
  const homeless = cursor === undefined ? (stuckOf.get(null) ?? []) : []
  return {
    rows: [...homeless.map((each) => rowOf(null, { registration: each, dead: 0 })), ...rows],
    next: body.next_cursor,
  }
}

async function deadOf(client: Client): Promise<ReadonlyMap<string, number>> {
  const { body } = await call(client, getInbox, { query: { limit: 100 } })
  const dead = body.data.filter(({ kind }) => kind === 'deliveries_dead')
  return new Map(dead.flatMap(({ merchant_id: id, count }) => (id === null ? [] : [[id, count] as const])))
}
