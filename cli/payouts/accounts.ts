import type { Command } from 'commander'
import { z } from 'zod'
import { BankAccount, addBankAccount, disableBankAccount, listBankAccounts } from '../../src/wire/bank-accounts.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'
import { parsedJson } from '../base/json.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { urlOf } from '../client/build-request.ts'
import { call } from '../client/call.ts'
import { addActions } from '../kit/action-command.ts'
import { action as declared } from '../kit/action.ts'
import type { Subject } from '../kit/action.ts'
import { ChangeOptions, change, dangerous, tried } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { subcommand } from '../kit/option-values.ts'
import { resolveId } from '../kit/resolve-id.ts'

/** An account that payouts go to. */
const bankAccount: Subject<BankAccount> = {
  noun: 'account-id',
  summary: 'Its id, or its last 8 characters',
  async find(client, given) {
    const accounts = (await call(client, listBankAccounts, {})).body.data
    const id = await resolveId(given, 'bank account', async function* ids() {
      for (const account of accounts) yield account.id
    })
    const thing = accounts.find((account) => account.id === id)
    if (thing === undefined)
      throw new CliError('BANK_ACCOUNT_NOT_FOUND', `bank account not found: ${given}`, {
        exit: EXIT.notFound,
        hint: 'svc payouts accounts list',
      })
    return { thing, isExact: given.toLowerCase() === id }
  },
  id: ({ id }) => id,
  name: ({ account_holder_name: holder, account_number: number }) => `${number} of ${holder}`,
  handle: ({ id }) => id,
  confirmBy: ({ id }) => [id.slice(-8), id],
}

const disable = declared({
  command: 'payouts accounts disable',
  summary: 'Disable a payout account',
  details: 'No payout goes to a disabled account. It stays in the list.',
  examples: ['svc payouts accounts disable 4f7a1c9e'],
  subject: bankAccount,
  flags: {},
  operation: disableBankAccount,
  request: (id) => ({ params: { id } }),
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

/** `svc payouts accounts`: where a merchant's payouts go. */
export function addAccounts(payouts: Command, runtime: Runtime): void {
  const accounts = subcommand(payouts, 'accounts', 'Manage the accounts that payouts go to')
  accounts.addHelpText(
    'after',
    '\nExamples:\n  svc payouts accounts create --holder "Acme Ltd"\n  svc payouts accounts list\n',
  )
  subcommand(accounts, 'list', 'List payout accounts with masked numbers')
    .addHelpText('after', '\nExamples:\n  svc payouts accounts list\n')
    .action(action(runtime, z.object({}), list))
  dangerous(subcommand(accounts, 'create', 'Create a payout account'))
    .requiredOption('--holder <name>', 'Name of the account holder')
    .option('--stdin', 'Read the account numbers as JSON from standard input')
    .addHelpText('after', CREATE_HELP)
    .action(action(runtime, CreateOptions, create))
  addActions(payouts, runtime, [disable])
}

const CREATE_HELP = `
No number stands on the command line, where the shell's history and other users would see it. At a terminal they are
asked for; a program writes them to standard input, as {"sort_code", "account_number", "iban"}; the last may be left out.

Examples:
  svc payouts accounts create --holder "Acme Ltd"
  svc payouts accounts create --holder "Acme Ltd" --stdin < account.json
`

const CreateOptions = ChangeOptions.extend({ holder: z.string(), stdin: z.boolean().default(false) })

async function create(context: Context, { options }: InputOf<typeof CreateOptions>): Promise<CommandResult> {
  const { holder } = options
  if (options.dryRun && !options.stdin) return tellAddition(context, holder)
  const numbers = await readNumbers(context.io, options)
  if (options.dryRun) {
    const body = { account_holder_name: holder, ...numbers }
    await call(context.client(), addBankAccount, { body, query: tried() })
    return tellAddition(context, holder)
  }
  const added = await change(context, context.client(), addBankAccount, {
    input: { body: { account_holder_name: holder, ...numbers } },
    options,
    danger: { what: `let payouts go to an account of ${holder}`, words: [holder], isExact: true, yes: options.yes },
  })
  if (added !== undefined) printAccount(context, added)
}

/** The request without the numbers, which the terminal would keep: so nobody is asked for them. */
function tellAddition(context: Context, holder: string): CommandResult {
  const { method } = addBankAccount
  const url = urlOf(context.client(), addBankAccount, {})
  const body = { account_holder_name: holder, sort_code: '****', account_number: '****' }
  context.print.record({
    item: { dry_run: true, method, url, body },
    id: url,
    lines: [
      ['Would send', `${method} ${url}`],
      ['Holder', holder],
    ],
  })
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

async function list(context: Context): Promise<CommandResult> {
  const { body } = await call(context.client(), listBankAccounts, {})
  context.print.list({
    items: body.data,
    fields: Object.keys(BankAccount.shape),
    columns: [
      { title: 'id', value: (row) => row.id, short: endOfId },
      { title: 'holder', value: (row) => row.account_holder_name, least: 16 },
      { title: 'sort code', value: (row) => row.sort_code },
      { title: 'account', value: (row) => row.account_number },
      { title: 'iban', value: (row) => row.iban ?? '', dropped: 2 },
      { title: 'state', value: stateOf, style: (state) => (state === 'active' ? 'green' : 'red') },
      { title: 'added', value: (row) => shortTime(row.created_at), short: dayOf, dropped: 1 },
    ],
    id: (row) => row.id,
    empty: 'There are no bank accounts.',
  })
}

function stateOf({ is_active }: BankAccount): string {
  return is_active ? 'active' : 'disabled'
}

function printAccount(context: Context, account: BankAccount): void {
  context.print.record({
    item: account,
    id: account.id,
    lines: [
      ['Id', account.id],
      ['Holder', account.account_holder_name],
      ['Sort code', account.sort_code],
      ['Account', account.account_number],
      ['IBAN', account.iban ?? ''],
      ['State', stateOf(account)],
    ],
  })
}
