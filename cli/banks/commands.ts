import type { Command } from 'commander'
import { z } from 'zod'
import { listBankConnections, setSoftwareStatement, testBank } from '../../src/wire/bank-connections.ts'
import type { BankTest } from '../../src/wire/bank-connections.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { call } from '../client/call.ts'
import { addActions } from '../kit/action-command.ts'
import { ChangeOptions, Reason, change, changing, dangerous } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { subcommand } from '../kit/option-values.ts'
import { BANK_ACTIONS } from './actions.ts'
import { readStatementFile } from './statement-file.ts'
import { bank } from './subject.ts'
import { printBanks, printRegistrations, printStatement, printTest } from './view.ts'

/** `svc banks`: the banks that payments are made at, and what the platform is to them. */
export function addBanks(banks: Command, runtime: Runtime): void {
  banks.addHelpText(
    'after',
    '\nExamples:\n  svc banks list\n  svc banks connect model --reason "going live"\n  svc banks test model\n',
  )
  subcommand(banks, 'list', 'List the configured banks')
    .addHelpText('after', '\nExamples:\n  svc banks list\n')
    .action(action(runtime, None, list))
  subcommand(banks, 'registrations', 'List the registrations of the platform')
    .addHelpText('after', '\nExamples:\n  svc banks registrations\n')
    .action(action(runtime, None, registrations))
  addActions(banks, runtime, BANK_ACTIONS)
  changing(banks.command('test').argument('<bank>', bank.summary))
    .description('Test the connection to a bank')
    .addHelpText(
      'after',
      '\nCreates a consent that is never authorised; no money moves.\n\nExamples:\n  svc banks test model\n',
    )
    .action(action(runtime, TestOptions, test))
  addStatementCommands(banks, runtime)
}

function addStatementCommands(banks: Command, runtime: Runtime): void {
  const statement = subcommand(banks, 'software-statement', 'Set and show the software statement')
  statement.addHelpText('after', `\nExamples:\n  ${SET_EXAMPLE}\n  svc banks software-statement show\n`)
  withFile(statement.command('set'))
    .description('Set the software statement of the directory')
    .addHelpText('after', `\nStored sealed under the master key.\n\nExamples:\n  ${SET_EXAMPLE}\n`)
    .action(action(runtime, SetOptions, setStatement))
  subcommand(statement, 'show', 'Show the software statement, without its keys')
    .addHelpText('after', '\nExamples:\n  svc banks software-statement show\n')
    .action(action(runtime, None, showStatement))
  withFile(banks.command('rotate-keys'))
    .description('Set new keys, and test every registered bank')
    .addHelpText(
      'after',
      `\nAdd the new key or certificate in the directory first.\n\nExamples:\n  ${ROTATE_EXAMPLE}\n`,
    )
    .action(action(runtime, SetOptions, rotateKeys))
}

const SET_EXAMPLE = 'svc banks software-statement set --file software-statement.json --reason "going live"'
const ROTATE_EXAMPLE = 'svc banks rotate-keys --file software-statement.json --reason "the certificate ends"'

function withFile(command: Command): Command {
  return dangerous(command)
    .requiredOption('--file <path>', 'JSON with ids, and paths of assertion, certificate and keys')
    .requiredOption('--reason <text>', 'Reason, for the audit trail')
}

const None = z.object({})
const TestOptions = ChangeOptions.omit({ yes: true })
type TestOptions = z.infer<typeof TestOptions>
const SetOptions = ChangeOptions.extend({ file: z.string(), reason: Reason })
type SetOptions = z.infer<typeof SetOptions>

async function list(context: Context): Promise<CommandResult> {
  const { data, software_statement: statement } = (await call(context.client(), listBankConnections, {})).body
  printBanks(context, data)
  if (statement === null) context.note('No software statement is set: svc banks software-statement set')
}

async function registrations(context: Context): Promise<CommandResult> {
  const { data } = (await call(context.client(), listBankConnections, {})).body
  printRegistrations(
    context,
    data.filter(({ client_id: clientId }) => clientId !== null),
  )
}

async function showStatement(context: Context): Promise<CommandResult> {
  const { software_statement: statement } = (await call(context.client(), listBankConnections, {})).body
  if (statement === null)
    throw new CliError('SOFTWARE_STATEMENT_MISSING', 'no software statement is set', {
      exit: EXIT.notFound,
      hint: SET_EXAMPLE,
    })
  printStatement(context, statement)
}

async function setStatement(context: Context, { options }: CommandInput<SetOptions>): Promise<CommandResult> {
  const { file, reason } = options
  const body = { ...(await readStatementFile(context, file)), reason }
  const client = context.client()
  const danger = {
    what: `set the software statement of ${body.software_id}`,
    words: [body.software_id],
    isExact: true,
    yes: options.yes,
  }
  const statement = await change(context, client, setSoftwareStatement, { input: { body }, options, danger })
  if (statement !== undefined) printStatement(context, statement)
}

async function test(
  context: Context,
  { args: [given = ''], options }: CommandInput<TestOptions>,
): Promise<CommandResult> {
  const client = context.client()
  const { thing } = await bank.find(client, given)
  const result = await change(context, client, testBank, { input: { params: { id: thing.id } }, options })
  if (result === undefined) return undefined
  printTest(context, result)
  mustPass(result)
}

/** @throws {CliError} exit code 3, naming the step */
function mustPass({ passed, steps, bank_id: id }: BankTest): void {
  if (passed) return
  const failed = steps.find((step) => !step.passed)
  throw new CliError('BANK_TEST_FAILED', `${id}: ${failed?.step ?? 'no step'}: ${failed?.detail ?? ''}`, {
    exit: EXIT.assertion,
  })
}

async function rotateKeys(context: Context, input: CommandInput<SetOptions>): Promise<CommandResult> {
  await setStatement(context, input)
  if (input.options.dryRun) return undefined
  const client = context.client()
  const { data } = (await call(client, listBankConnections, {})).body
  for (const { id, client_id: clientId } of data) {
    if (clientId === null) continue
    mustPass((await call(client, testBank, { params: { id } })).body)
    context.note(`${id}: the new keys work`)
  }
}
