import type { z } from 'zod'
import { fromMinorUnits, toMinorUnits } from '../../src/lib/minor-units.ts'
import type { OperationReply } from '../../src/wire/operation.ts'
import { SandboxCustomer, createSandboxCustomer, seedSandbox } from '../../src/wire/sandbox-bank.ts'
import { usageError } from '../base/errors.ts'
import type { Flags } from '../kit/action.ts'
import { CHANGING, change } from '../kit/change.ts'
import { command } from '../kit/command.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { bodyFrom } from '../kit/read-values.ts'
import { mustBeWritten } from '../output/flush.ts'
import { withProgress } from '../output/progress.ts'
import { tableBelow } from '../output/table.ts'
import type { Column } from '../output/table.ts'
import { ACCOUNT_COLUMNS } from './accounts.ts'

/** Filling a bank with the most that it takes at once has its time. */
const SEED_TIMEOUT_MS = 180_000

const ALIASES = {
  name: { value: 'name', summary: 'Name of the customer' },
  email: { value: 'address', summary: 'E-mail address as a payment alias (a generated one)' },
  mobile: { value: 'number', summary: 'Mobile number as a payment alias, such as +447700900123' },
  proxyId: { value: 'id', summary: 'Proxy id as a payment alias' },
} as const satisfies Flags

export const create = command({
  command: 'sandbox customers create',
  summary: 'Create a bank customer with accounts and balances',
  examples: [
    'svc sandbox customers create --balance 250.00',
    'svc sandbox customers create --name "Ada Payer" --account 500.00 --account EUR:20.00',
  ],
  flags: {
    ...CHANGING,
    ...ALIASES,
    account: {
      value: 'balance',
      summary: 'Account with this balance: 500.00 or EUR:500.00; may be repeated',
      member: 'accounts',
      repeats: true,
    },
    balance: { value: 'balance', summary: 'Balance of a single account', excludes: ['account'] },
    overdraft: { value: 'amount', summary: 'Overdraft limit of each account' },
  },
  async run(context, input) {
    const accounts = accountsOf(input).map((account) => ({ ...account, overdraft_limit: input.overdraft }))
    const body = { ...bodyFrom(ALIASES, input), ...(accounts.length === 0 ? {} : { accounts }) }
    const made = await change(context, context.client(), createSandboxCustomer, { input: { body }, options: input })
    if (made !== undefined) await printCustomer(context, made)
  },
})

type AccountInput = { balance: string; currency?: 'GBP' | 'EUR' }
type AccountFlags = { account: readonly string[]; balance: string | undefined; overdraft: string | undefined }

/** The accounts that are asked for; none where the service may choose. */
function accountsOf({ account, balance, overdraft }: AccountFlags): AccountInput[] {
  if (balance !== undefined) return [accountOf(balance, '--balance')]
  if (account.length === 0 && overdraft !== undefined) return [{ balance: '1000.00' }]
  return account.map((text) => accountOf(text, '--account'))
}

/** An account as a flag says it: `500.00`, `EUR:500.00`. */
function accountOf(text: string, flag: string): AccountInput {
  const [, currency, balance = ''] = /^(?:(GBP|EUR):)?(\d{1,9}(?:\.\d{1,2})?)$/.exec(text) ?? []
  if (balance === '')
    throw usageError(
      `${flag}: invalid balance "${text}": use an amount, with EUR: before it for euros`,
      `${flag} 500.00, or ${flag} EUR:20.00`,
    )
  return currency === 'GBP' || currency === 'EUR' ? { balance, currency } : { balance }
}

async function printCustomer({ io, print, note }: Context, customer: SandboxCustomer): Promise<void> {
  const { client_id: clientId, client_secret: clientSecret } = customer
  print.record(
    customer,
    [
      ['Customer', customer.customer_id],
      ['Name', customer.name],
      ['E-mail', customer.email ?? ''],
      ['Mobile', customer.mobile ?? ''],
      ['Proxy id', customer.proxy_id ?? ''],
      ['Client', clientId === null ? '' : `${clientId} and ${clientSecret ?? ''}`],
      ['Issuer', customer.issuer ?? ''],
    ],
    { after: tableBelow(print, customer.accounts, ACCOUNT_COLUMNS) },
  )
  await mustBeWritten(io, `the secret of the customer ${customer.customer_id} is lost`, {
    hint: 'svc sandbox customers create',
    facts: { customer_id: customer.customer_id },
  })
  if (clientId === null) return note(`To use this customer: svc ob --customer ${customer.customer_id} accounts`)
  note('The secret is shown this once. A token: grant_type=client_credentials, scope "accounts payments".')
  // A form for programs leaves the secret where the program puts it.
  if (clientSecret !== null && !print.isMachine)
    note(`To use this customer: SVC_CLIENT_ID=${clientId} SVC_CLIENT_SECRET=${clientSecret} svc ob accounts`)
}

const SeededCustomer = SandboxCustomer.omit({ client_secret: true, issuer: true })
type SeededCustomer = z.infer<typeof SeededCustomer>
type Seeded = OperationReply<typeof seedSandbox>['body']

type Seeding = { dryRun: boolean; seed: string | undefined; customers: string | undefined; days: string | undefined }

/** `svc sandbox seed`: the same number makes the same bank. */
export async function seed(context: Context, options: Seeding): Promise<CommandResult> {
  const { seed: number, customers, days } = options
  const body = {
    ...(number === undefined ? {} : { seed: Number.parseInt(number, 10) }),
    ...(customers === undefined ? {} : { customers: Number.parseInt(customers, 10) }),
    ...(days === undefined ? {} : { days: Number.parseInt(days, 10) }),
  }
  const client = { ...context.client(), timeoutMs: SEED_TIMEOUT_MS }
  const made = await withProgress(context, { title: 'Filling the bank', unit: 'customers' }, () =>
    change(context, client, seedSandbox, { input: { body }, options }),
  )
  if (made === undefined) return undefined
  printSeeded(context, made)
}

const SEEDED_COLUMNS: readonly Column<SeededCustomer>[] = [
  { title: 'customer', value: (row) => row.customer_id },
  { title: 'name', value: (row) => row.name, least: 12 },
  { title: 'e-mail', value: (row) => row.email ?? '', dropped: 2, least: 16 },
  { title: 'mobile', value: (row) => row.mobile ?? '', dropped: 1 },
  { title: 'accounts', value: (row) => String(row.accounts.length), align: 'right' },
  { title: 'total', value: ({ accounts }) => sumText(accounts), align: 'right' },
]

/** What is on the accounts of a customer together, each currency by itself: `1250.00 GBP, 20.00 EUR`. */
function sumText(accounts: SeededCustomer['accounts']): string {
  const sums = new Map<string, bigint>()
  for (const { balance, currency } of accounts) {
    const minor = toMinorUnits(balance.replace('-', ''), currency) ?? 0n
    sums.set(currency, (sums.get(currency) ?? 0n) + (balance.startsWith('-') ? -minor : minor))
  }
  return [...sums].map(([currency, minor]) => `${fromMinorUnits(minor, currency)} ${currency}`).join(', ')
}

/** What was made, and a line for each customer: CSV and ids have those alone. */
function printSeeded({ print }: Context, made: Seeded): void {
  if (print.mode === 'csv' || print.mode === 'id')
    return print.list(made.customers, { fields: SeededCustomer, columns: SEEDED_COLUMNS })
  print.record(
    made,
    [
      ['Seed', String(made.seed)],
      ['Transactions', String(made.transactions)],
      ['There before', made.already_there === 0 ? '' : String(made.already_there)],
    ],
    { after: tableBelow(print, made.customers, SEEDED_COLUMNS) },
  )
}
