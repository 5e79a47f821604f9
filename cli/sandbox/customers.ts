import { z } from 'zod'
import { fromMinorUnits, toMinorUnits } from '../../src/lib/minor-units.ts'
import { SandboxCustomer, createSandboxCustomer, seedSandbox } from '../../src/wire/sandbox-bank.ts'
import { ChangeOptions, change } from '../kit/change.ts'
import type { CommandResult, Context, InputOf } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { withProgress } from '../output/progress.ts'
import type { OperationReply } from '../../src/wire/operation.ts'
import { tableOf } from '../output/table.ts'
import type { Column } from '../output/table.ts'
import { mustBeWritten } from '../output/flush.ts'
import { ACCOUNT_COLUMNS } from './accounts.ts'

/** Filling a bank with the most that it takes at once has its time. */
const SEED_TIMEOUT_MS = 180_000

export const CreateOptions = ChangeOptions.extend({
  name: z.string().optional(),
  email: z.string().optional(),
  mobile: z.string().optional(),
  proxyId: z.string().optional(),
  account: z.array(z.string()).default([]),
  balance: z.string().optional(),
  overdraft: z.string().optional(),
})

/** `svc sandbox customers create`: a customer to try things with, and what a program needs to act as it. */
export async function create(context: Context, { options }: InputOf<typeof CreateOptions>): Promise<CommandResult> {
  const { name, email, mobile, proxyId, overdraft } = options
  const accounts = wishesOf(options).map((account) => ({
    ...account,
    ...(overdraft === undefined ? {} : { overdraft_limit: overdraft }),
  }))
  const body = {
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    ...(mobile === undefined ? {} : { mobile }),
    ...(proxyId === undefined ? {} : { proxy_id: proxyId }),
    ...(accounts.length === 0 ? {} : { accounts }),
  }
  const made = await change(context, context.client(), createSandboxCustomer, { input: { body }, options })
  if (made !== undefined) await printCustomer(context, made)
}

type Wish = { balance: string; currency?: 'GBP' | 'EUR' }

/** The accounts that are asked for; none where the service may choose. */
function wishesOf({ account, balance, overdraft }: z.infer<typeof CreateOptions>): Wish[] {
  if (balance !== undefined) return [accountOf(balance, '--balance')]
  if (account.length === 0 && overdraft !== undefined) return [{ balance: '1000.00' }]
  return account.map((text) => accountOf(text, '--account'))
}

/** An account as a flag says it: `500.00`, `EUR:500.00`. */
function accountOf(text: string, flag: string): Wish {
  const [, currency, balance = ''] = /^(?:(GBP|EUR):)?(\d{1,9}(?:\.\d{1,2})?)$/.exec(text) ?? []
  if (balance === '') throw usageError(`${flag}: "${text}" is no balance`, `${flag} 500.00, or ${flag} EUR:20.00`)
  return currency === 'GBP' || currency === 'EUR' ? { balance, currency } : { balance }
}

async function printCustomer({ io, print, note }: Context, customer: SandboxCustomer): Promise<void> {
  const { client_id: clientId, client_secret: clientSecret } = customer
  const table = tableOf(customer.accounts, ACCOUNT_COLUMNS, {
    header: true,
    paint: (_style, text) => text,
    width: print.width,
  })
  print.record({
    item: customer,
    id: customer.customer_id,
    lines: [
      ['Customer', customer.customer_id],
      ['Name', customer.name],
      ['E-mail', customer.email ?? ''],
      ['Mobile', customer.mobile ?? ''],
      ['Proxy id', customer.proxy_id ?? ''],
      ['Client', clientId === null ? '' : `${clientId} and ${clientSecret ?? ''}`],
      ['Issuer', customer.issuer ?? ''],
    ],
    after: table.join('\n'),
  })
  await mustBeWritten(io, `the secret of the customer ${customer.customer_id} is lost`, {
    hint: 'svc sandbox customers create',
    facts: { customer_id: customer.customer_id },
  })
  if (clientId === null) return note(`To act as this customer: svc ob --customer ${customer.customer_id} accounts`)
  note('The secret is shown this once. A token: grant_type=client_credentials, scope "accounts payments".')
  // A form for programs leaves the secret where the program puts it.
  if (clientSecret !== null && !print.isMachine)
    note(`To act as this customer: SVC_CLIENT_ID=${clientId} SVC_CLIENT_SECRET=${clientSecret} svc ob accounts`)
}

const WHOLE = z.string().regex(/^\d{1,10}$/, 'must be a whole number')
export const SeedOptions = ChangeOptions.extend({
  seed: WHOLE.optional(),
  customers: WHOLE.optional(),
  days: WHOLE.optional(),
})

const SeededCustomer = SandboxCustomer.omit({ client_secret: true, issuer: true })
type SeededCustomer = z.infer<typeof SeededCustomer>
type Seeded = OperationReply<typeof seedSandbox>['body']

/** `svc sandbox seed`: the same number makes the same bank. */
export async function seed(context: Context, { options }: InputOf<typeof SeedOptions>): Promise<CommandResult> {
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
  const rows = { items: made.customers, columns: SEEDED_COLUMNS, id: (row: SeededCustomer) => row.customer_id }
  if (print.mode === 'csv' || print.mode === 'id')
    return print.list({ ...rows, fields: Object.keys(SeededCustomer.shape), empty: '' })
  const table = tableOf(rows.items, rows.columns, { header: true, paint: print.paint, width: print.width })
  print.record({
    item: made,
    id: String(made.seed),
    lines: [
      ['Seed', String(made.seed)],
      ['Transactions', String(made.transactions)],
      ['There before', made.already_there === 0 ? '' : String(made.already_there)],
    ],
    after: table.join('\n'),
  })
}
