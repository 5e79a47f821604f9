import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { britishFile } from '../../support/bank-files.ts'
import type { Ran, Refusal, Row, Rows } from './row.ts'
import { NOBODY } from './world.ts'
import type { World } from './world.ts'

const WHY = ['--reason', 'for the tests'] as const

/** A name that no header can carry. */
const NO_NAME = () => ({ words: [], env: { SVC_PLATFORM_USER: 'not a name' } })

/** No merchant has this name. */
function unknownMerchant(...more: string[]): Refusal {
  return { args: ['nobody-at-all', ...more], exit: 6, error: 'NOT_FOUND' }
}

/** What an operator does to a merchant that was made for it, maybe after something else. */
function toMerchant(before: readonly string[] = [], more: readonly string[] = []): (world: World) => Promise<string[]> {
  return async (world) => {
    const { realm } = await world.merchant()
    if (before.length > 0) await world.idFrom('operator', [...before, realm, ...WHY])
    return [realm, ...WHY, ...more]
  }
}

let members = 0
const of = (row: Omit<Ran, 'as'>): Row => ({ as: 'operator', ...row })

const MERCHANTS: Rows = {
  'merchants list': of({ refusal: { args: ['--limit', '0'], exit: 2, error: 'USAGE' } }),
  'merchants show': of({ args: ({ shop }) => [shop.realm], refusal: unknownMerchant() }),
  'merchants export': of({
    skip: { width: 'the export itself', id: 'the export itself', query: 'an export has whole rows' },
    refusal: { args: ['--file', '/nowhere/merchants.csv'], exit: 2, error: 'FILE_NOT_WRITTEN' },
  }),
  'merchants enable': of({
    args: toMerchant(['merchants', 'disable']),
    writes: true,
    refusal: unknownMerchant(...WHY),
  }),
  'merchants disable': of({ args: toMerchant(), writes: true, refusal: unknownMerchant(...WHY) }),
  'merchants registrations': of({
    refusal: { args: NO_NAME, exit: 2, error: 'USAGE' },
  }),
  'merchants reset-factor': of({
    args: async (world) => {
      const email = `ada-${String((members += 1))}@acme.example`
      await world.idFrom('merchant', ['team', 'invite', '--email', email, '--role', 'ADMIN'])
      return [world.shop.realm, '--email', email, ...WHY]
    },
    writes: true,
    refusal: unknownMerchant('--email', 'ada@acme.example', ...WHY),
  }),
  'merchants repair': of({
    args: async ({ merchant }) => [(await merchant()).realm],
    writes: true,
    refusal: { args: ['nobody-at-all'], exit: 6, error: 'REGISTRATION_NOT_FOUND' },
  }),
  'kyb list': of({ refusal: { args: ['--limit', 'many'], exit: 2, error: 'USAGE' } }),
  'kyb show': of({ args: ({ shop }) => [shop.realm], refusal: unknownMerchant() }),
  'kyb approve': of({
    args: async ({ pending }) => [(await pending()).realm, ...WHY],
    writes: true,
    refusal: { args: toMerchant(['kyb', 'suspend']), exit: 7, error: 'KYB_TRANSITION_INVALID' },
  }),
  'kyb refuse': of({
    args: async ({ pending }) => [(await pending()).realm, ...WHY],
    writes: true,
    refusal: { args: toMerchant(), exit: 7, error: 'KYB_TRANSITION_INVALID' },
  }),
  'kyb suspend': of({
    args: toMerchant(),
    writes: true,
    refusal: unknownMerchant(...WHY),
  }),
  'kyb reinstate': of({
    args: toMerchant(['kyb', 'suspend']),
    writes: true,
    refusal: {
      args: async ({ pending }) => [(await pending()).realm, ...WHY],
      exit: 7,
      error: 'KYB_TRANSITION_INVALID',
    },
  }),
  'hold set': of({ args: toMerchant(), writes: true, refusal: unknownMerchant(...WHY) }),
  'hold release': of({ args: toMerchant(['hold', 'set']), writes: true, refusal: unknownMerchant(...WHY) }),
  'hold list': of({ refusal: { args: ['--limit', 'many'], exit: 2, error: 'USAGE' } }),
  'merchants fees show': of({ args: ({ shop }) => [shop.realm], refusal: unknownMerchant() }),
  'merchants fees set': of({
    args: toMerchant([], ['--percentage', '1.25%']),
    writes: true,
    refusal: unknownMerchant('--flat', '0.10', ...WHY),
  }),
  'merchants schedule': of({
    args: async (world) => {
      const [realm = '', ...why] = await toMerchant()(world)
      return [realm, 'WEEKLY', ...why]
    },
    writes: true,
    refusal: unknownMerchant('WEEKLY', ...WHY),
  }),
  'merchants correct': of({
    args: toMerchant([], ['--amount', '-5.00', '--currency', 'gbp', '--against', 'FEES']),
    writes: true,
    refusal: unknownMerchant('--amount', '5.00', '--currency', 'GBP', '--against', 'BANK', ...WHY),
  }),
  'merchants limits show': of({ args: ({ shop }) => [shop.realm], refusal: unknownMerchant() }),
  'merchants limits set': of({
    args: toMerchant([], ['--max-payment', '5000']),
    writes: true,
    refusal: unknownMerchant('--currencies', 'GBP', ...WHY),
  }),
}

const ESCALATE = ['--reason', 'beyond my limit'] as const
const RESOLVE = ['--favour', 'merchant', '--note', 'signed for'] as const

let fileCount = 0

/** A statement with a line that nobody knows. */
function bankFile(dir: string): string {
  fileCount += 1
  const content = britishFile([{ amount: `0.${String(10 + fileCount)}`, ref: `FEE-${fileCount}` }], {
    id: `S-${fileCount}`,
  })
  writeFileSync(join(dir, `bank-${fileCount}.xml`), content)
  return `bank-${fileCount}.xml`
}

async function openLine(world: World): Promise<string> {
  const statement = await world.idFrom('operator', ['statements', 'import', bankFile(world.dir)])
  return world.idFrom('operator', ['statements', 'lines', '--statement', statement])
}

const DISPUTES: Rows = {
  inbox: of({ refusal: { args: ['--limit', 'many'], exit: 2, error: 'USAGE' } }),
  'statements import': of({
    args: ({ dir }) => [bankFile(dir)],
    writes: true,
    refusal: { args: ['no-such-file.xml'], exit: 2, error: 'USAGE' },
  }),
  balances: of({ refusal: { args: ['--limit', 'many'], exit: 2, error: 'USAGE' } }),
  // Without a time each run has another one.
  reconcile: of({
    args: ['--as-of', '2026-11-01'],
    refusal: { args: ['--merchant', 'nobody-at-all'], exit: 6, error: 'NOT_FOUND' },
  }),
  'payouts files': of({ refusal: { args: ['--limit', 'many'], exit: 2, error: 'USAGE' } }),
  'statements list': of({ refusal: { args: ['--limit', 'many'], exit: 2, error: 'USAGE' } }),
  'statements lines': of({ refusal: { args: ['--since', 'someday'], exit: 2, error: 'USAGE' } }),
  'statements missing': of({ refusal: { args: ['--until', 'someday'], exit: 2, error: 'USAGE' } }),
  'statements resolve': of({
    args: async (world) => [await openLine(world), ...WHY],
    writes: true,
    refusal: { args: [NOBODY, ...WHY], exit: 6, error: 'NOT_FOUND' },
  }),
  'disputes list': of({ refusal: { args: ['--merchant', 'nobody-at-all'], exit: 6, error: 'NOT_FOUND' } }),
  'disputes show': of({
    args: async ({ dispute }) => [await dispute()],
    refusal: { args: [NOBODY], exit: 6, error: 'DISPUTE_NOT_FOUND' },
  }),
  'disputes raise': of({
    args: async ({ paid }) => [await paid(), '--reason', 'UNAUTHORISED', '--statement', 'the bank says so'],
    writes: true,
    refusal: {
      args: async ({ waiting }) => [await waiting(), '--reason', 'UNAUTHORISED', '--statement', 'the bank says so'],
      exit: 7,
      error: 'PAYMENT_NOT_DISPUTABLE',
    },
  }),
  'disputes escalate': of({
    args: async ({ dispute }) => [await dispute('UNDER_REVIEW'), ...ESCALATE],
    writes: true,
    refusal: {
      args: async ({ dispute }) => [await dispute('ESCALATED'), ...ESCALATE],
      exit: 7,
      error: 'DISPUTE_ESCALATED',
    },
  }),
  'payments resolve': of({
    args: async ({ unanswered }) => [await unanswered(), '--not-taken', ...WHY],
    writes: true,
    refusal: {
      args: async ({ waiting }) => [await waiting(), '--not-taken', ...WHY],
      exit: 7,
      error: 'PAYMENT_NOT_RESOLVABLE',
    },
  }),
  'disputes resolve': of({
    args: async ({ dispute }) => [await dispute('UNDER_REVIEW'), ...RESOLVE],
    writes: true,
    refusal: {
      args: async ({ dispute }) => [await dispute('RESOLVED_PAYER_FAVOUR'), ...RESOLVE],
      exit: 7,
      error: 'DISPUTE_CLOSED',
    },
  }),
  'disputes refund': of({
    args: async ({ rejectedRefund }) => [await rejectedRefund(), '--note', 'the account is open again'],
    writes: true,
    refusal: {
      args: async ({ dispute }) => [await dispute('RESOLVED_PAYER_FAVOUR'), '--note', 'once more'],
      exit: 7,
      error: 'DISPUTE_CLOSED',
    },
  }),
}

let count = 0
const someEmail = (): string => `someone-${(count += 1)}@pay.example`

async function someStaff(world: World): Promise<string> {
  const email = someEmail()
  await world.idFrom('operator', ['staff', 'invite', '--email', email, '--role', 'OPS', ...WHY])
  return email
}

const STAFF: Rows = {
  'staff list': of({ refusal: { args: NO_NAME, exit: 2, error: 'USAGE' } }),
  'staff invite': of({
    args: () => ['--email', someEmail(), '--role', 'OPS', ...WHY],
    writes: true,
    refusal: { args: ['--email', 'nobody', '--role', 'OPS', ...WHY], exit: 2, error: 'VALIDATION_FAILED' },
  }),
  'staff role': of({
    args: async (world) => [await someStaff(world), 'SUPPORT', ...WHY],
    writes: true,
    refusal: { args: ['nobody@pay.example', 'OPS', ...WHY], exit: 6, error: 'NOT_FOUND' },
  }),
  'staff remove': of({
    args: async (world) => [await someStaff(world), ...WHY],
    writes: true,
    refusal: { args: ['nobody@pay.example', ...WHY], exit: 6, error: 'NOT_FOUND' },
  }),
  'staff reset-factor': of({
    args: async (world) => [await someStaff(world), ...WHY],
    writes: true,
    refusal: { args: ['nobody@pay.example', ...WHY], exit: 6, error: 'NOT_FOUND' },
  }),
  'payer erase': of({
    args: ['--email', 'ada@example.org', ...WHY],
    writes: true,
    refusal: { args: ['--phone', '070', ...WHY], exit: 2, error: 'VALIDATION_FAILED' },
  }),
  'audit list': of({ refusal: { args: ['--action', 'hold.set'], exit: 2, error: 'USAGE' } }),
  'audit show': of({ args: ['1'], refusal: { args: ['999999'], exit: 6, error: 'AUDIT_ENTRY_NOT_FOUND' } }),
  'audit export': of({
    skip: { json: 'its lines are the export', id: 'its lines are the export', width: 'its lines are the export' },
    refusal: { args: ['--file', '/nowhere/audit.jsonl'], exit: 2, error: 'FILE_NOT_WRITTEN' },
  }),
  'audit verify': of({
    skip: { width: 'heads are whole, to be copied' },
    refusal: { args: ['--file', '/nowhere/audit.jsonl'], exit: 2, error: 'USAGE' },
  }),
}

/** What operators do. */
export const OPERATOR_ROWS: Rows = { ...MERCHANTS, ...DISPUTES, ...STAFF }
