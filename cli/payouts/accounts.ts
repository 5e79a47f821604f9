import { command } from '../kit/command.ts'
import { z } from 'zod'
import { BankAccount, addBankAccount, disableBankAccount, listBankAccounts } from '../../src/wire/bank-accounts.ts'
import { CliError, usageError } from '../base/errors.ts'
import type { Io } from '../base/io.ts'
import { parsedJson } from '../base/json.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { urlOf } from '../client/build-request.ts'
import { call } from '../client/call.ts'
import { action, rowSubject } from '../kit/action.ts'
import { DANGEROUS, change, tried } from '../kit/change.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { reading } from '../kit/reading.ts'
import { resolveId } from '../kit/resolve-id.ts'

const bankAccount = rowSubject<BankAccount>(
  {
    noun: 'account-id',
    summary: 'Its id, or its last 8 characters',
    id: ({ id }) => id,
    name: ({ account_holder_name: holder, account_number: number }) => `${number} of ${holder}`,
  },
  async (client, given) => {
    const accounts = (await call(client, listBankAccounts, {})).body.data
    const id = await resolveId(given, 'bank account', async () => accounts.map((account) => account.id))
    const thing = accounts.find((account) => account.id === id)
    if (thing !== undefined) return thing
    throw new CliError('BANK_ACCOUNT_NOT_FOUND', `bank account not found: ${given}`, {
      hint: 'svc payouts accounts list',
    })
  },
)

const disable = action({
  command: 'payouts accounts disable',
  summary: 'Disable a payout account',
  details: 'No payout goes to a disabled account. It stays in the list.',
  examples: ['svc payouts accounts disable 4f7a1c9e'],
  subject: bankAccount,
  flags: {},
  operation: disableBankAccount,
  move: {
    member: 'is_active',
    from: true,
    to: false,
    already: (thing) => `${bankAccount.name(thing)} is disabled already`,
  },
  effect: (thing) => `end payouts to the account ${bankAccount.name(thing)}`,
  done: (thing) => `disabled ${bankAccount.name(thing)}`,
  confirm: true,
  view: printAccount,
})

const create = command({
  command: 'payouts accounts create',
  summary: 'Create a payout account',
  details: `Numbers are not taken from the command line, where the shell's history and other users would see them. At a terminal they are
asked for; a program writes them to standard input, as {"sort_code", "account_number", "iban"}; the last may be left out.`,
  examples: [
    'svc payouts accounts create --holder "Acme Ltd"',
    'svc payouts accounts create --holder "Acme Ltd" --stdin < account.json',
  ],
  flags: {
    ...DANGEROUS,
    holder: { value: 'name', summary: 'Name of the account holder', member: 'account_holder_name', required: true },
    stdin: { summary: 'Read the account numbers as JSON from standard input' },
  },
  async run(context, input) {
    const { holder } = input
    if (input.dryRun && !input.stdin) return reportAddition(context, holder)
    const numbers = await readNumbers(context.io, input)
    if (input.dryRun) {
      const body = { account_holder_name: holder, ...numbers }
      await call(context.client(), addBankAccount, { body, query: tried() })
      return reportAddition(context, holder)
    }
    const added = await change(context, context.client(), addBankAccount, {
      input: { body: { account_holder_name: holder, ...numbers } },
      options: input,
      danger: { what: `let payouts go to an account of ${holder}`, words: [holder], isExact: true, yes: input.yes },
    })
    if (added !== undefined) printAccount(context, added)
  },
})

/** The request without the account numbers, which would stay on the terminal: a dry run asks for none. */
function reportAddition(context: Context, holder: string): CommandResult {
  const { method } = addBankAccount
  const url = urlOf(context.client(), addBankAccount, {})
  const body = { account_holder_name: holder, sort_code: '****', account_number: '****' }
  context.print.record(
    { dry_run: true, method, url, body },
    [
      ['Would send', `${method} ${url}`],
      ['Holder', holder],
    ],
    { id: url },
  )
  context.note('Nothing was changed.')
}

const INPUT_BYTES_MAX = 4_096

const Numbers = z.strictObject({ sort_code: z.string(), account_number: z.string(), iban: z.string().optional() })
type Numbers = z.infer<typeof Numbers>

/**
 * The numbers of an account: asked for at a terminal, or JSON on standard input.
 * @throws {CliError} exit code 2; the message repeats nothing of what was read
 */
async function readNumbers(io: Io, { stdin }: { stdin: boolean }): Promise<Numbers> {
  if (stdin) return readJson(io)
  if (!io.stdin.isTTY || !io.stderr.isTTY) {
    throw usageError(
      'there is no terminal to ask for the numbers at',
      'svc payouts accounts create --holder "..." --stdin < account.json',
    )
  }
  const sort_code = await ask(io, 'Sort code: ')
  const account_number = await ask(io, 'Account number: ')
  const iban = await ask(io, 'IBAN (Enter for none): ')
  return iban === '' ? { sort_code, account_number } : { sort_code, account_number, iban }
}

async function ask(io: Io, question: string): Promise<string> {
  io.stderr.write(question)
  const answer = await io.stdin.readLine()
  if (answer === undefined) throw usageError('the input ended before all numbers were given; nothing was changed')
  return answer.trim()
}

async function readJson(io: Io): Promise<Numbers> {
  const text = (await io.stdin.read(INPUT_BYTES_MAX)).toString('utf8')
  const parsed = Numbers.safeParse(parsedJson(text))
  if (parsed.success) return parsed.data
  throw usageError(
    'standard input must be one JSON object of strings: sort_code, account_number and perhaps iban',
    `echo '{"sort_code":"12-34-56","account_number":"12345678"}' is the form`,
  )
}

const list = reading({
  command: 'payouts accounts list',
  summary: 'List payout accounts with masked numbers',
  examples: ['svc payouts accounts list'],
  flags: {},
  operation: listBankAccounts,
  view: {
    fields: BankAccount,
    columns: [
      { title: 'id', value: (row) => row.id, short: endOfId },
      { title: 'holder', value: (row) => row.account_holder_name, least: 16 },
      { title: 'sort code', value: (row) => row.sort_code },
      { title: 'account', value: (row) => row.account_number },
      { title: 'iban', value: (row) => row.iban ?? '', dropped: 2 },
      { title: 'state', value: stateOf, style: (state) => (state === 'active' ? 'green' : 'red') },
      { title: 'added', value: (row) => shortTime(row.created_at), short: dayOf, dropped: 1 },
    ],
    empty: 'There are no bank accounts.',
  },
})

function stateOf({ is_active }: BankAccount): string {
  return is_active ? 'active' : 'disabled'
}

function printAccount(context: Context, account: BankAccount): void {
  context.print.record(account, [
    ['Id', account.id],
    ['Holder', account.account_holder_name],
    ['Sort code', account.sort_code],
    ['Account', account.account_number],
    ['IBAN', account.iban ?? ''],
    ['State', stateOf(account)],
  ])
}

export const ACCOUNTS = [
  {
    command: 'payouts accounts',
    summary: 'Manage the accounts that payouts go to',
    examples: ['svc payouts accounts create --holder "Acme Ltd"', 'svc payouts accounts list'],
  },
  list,
  create,
  disable,
]
