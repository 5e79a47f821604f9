import type { Flags } from '../kit/action.ts'
import type { Input } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { reason } from '../kit/read-values.ts'
import { listBankConnections, setSoftwareStatement, testBank } from '../../src/wire/bank-connections.ts'
import type { BankTest } from '../../src/wire/bank-connections.ts'
import { CliError } from '../base/errors.ts'
import { call } from '../client/call.ts'
import { CHANGING, DANGEROUS, change } from '../kit/change.ts'
import { command, argument } from '../kit/command.ts'
import { reading } from '../kit/reading.ts'
import { BANK_ACTIONS } from './actions.ts'
import { readStatement } from './statement-file.ts'
import { bank } from './subject.ts'
import { printBanks, printRegistrations, printStatement, printTest } from './view.ts'

const SET_EXAMPLE = 'svc banks software-statement set --file software-statement.json --reason "going live"'

const list = reading({
  command: 'banks list',
  summary: 'List the configured banks',
  examples: ['svc banks list'],
  flags: {},
  operation: listBankConnections,
  view(context, { data, software_statement: statement }) {
    printBanks(context, data)
    if (statement === null) context.note('No software statement is set: svc banks software-statement set')
  },
})

const registrations = reading({
  command: 'banks registrations',
  summary: 'List the registrations of the platform',
  examples: ['svc banks registrations'],
  flags: {},
  operation: listBankConnections,
  view: (context, { data }) =>
    printRegistrations(
      context,
      data.filter(({ client_id: clientId }) => clientId !== null),
    ),
})

const showStatement = reading({
  command: 'banks software-statement show',
  summary: 'Show the software statement, without its keys',
  examples: ['svc banks software-statement show'],
  flags: {},
  operation: listBankConnections,
  view(context, { software_statement: statement }) {
    if (statement === null)
      throw new CliError('SOFTWARE_STATEMENT_MISSING', 'no software statement is set', {
        hint: SET_EXAMPLE,
      })
    printStatement(context, statement)
  },
})

const WITH_FILE = {
  ...DANGEROUS,
  file: { value: 'path', summary: 'JSON with ids, and paths of assertion, certificate and keys', required: true },
  reason: { ...reason, summary: 'Reason, for the audit trail' },
} as const satisfies Flags

const setStatement = command({
  command: 'banks software-statement set',
  summary: 'Set the software statement of the directory',
  details: 'Stored sealed under the master key.',
  examples: [SET_EXAMPLE],
  flags: WITH_FILE,
  run: setFrom,
})

async function setFrom(context: Context, input: Input<typeof WITH_FILE>): Promise<void> {
  const body = { ...(await readStatement(context, input.file)), reason: input.reason }
  const client = context.client()
  const danger = {
    what: `set the software statement of ${body.software_id}`,
    words: [body.software_id],
    isExact: true,
    yes: input.yes,
  }
  const statement = await change(context, client, setSoftwareStatement, {
    input: { body },
    options: input,
    danger,
  })
  if (statement !== undefined) printStatement(context, statement)
}

const test = command({
  command: 'banks test',
  summary: 'Test the connection to a bank',
  details: 'Creates a consent that is never authorised; no money moves.',
  examples: ['svc banks test model'],
  flags: { bank: argument('bank', bank.summary), ...CHANGING },
  async run(context, input) {
    const client = context.client()
    const { thing } = await bank.find(client, input.bank)
    const result = await change(context, client, testBank, { input: { params: { id: thing.id } }, options: input })
    if (result === undefined) return undefined
    printTest(context, result)
    mustPass(result)
  },
})

/** @throws {CliError} exit code 3, naming the step */
function mustPass({ passed, steps, bank_id: id }: BankTest): void {
  if (passed) return
  const failed = steps.find((step) => !step.passed)
  throw new CliError('BANK_TEST_FAILED', `${id}: ${failed?.step ?? 'no step'}: ${failed?.detail ?? ''}`)
}

const rotateKeys = command({
  command: 'banks rotate-keys',
  summary: 'Set new keys, and test every registered bank',
  details: 'Add the new key or certificate in the directory first.',
  examples: ['svc banks rotate-keys --file software-statement.json --reason "the certificate ends"'],
  flags: WITH_FILE,
  async run(context, input) {
    await setFrom(context, input)
    if (input.dryRun) return undefined
    const client = context.client()
    const { data } = (await call(client, listBankConnections, {})).body
    for (const { id, client_id: clientId } of data) {
      if (clientId === null) continue
      mustPass((await call(client, testBank, { params: { id } })).body)
      context.note(`${id}: the new keys work`)
    }
  },
})

export const BANKS = [
  {
    command: 'banks',
    examples: ['svc banks list', 'svc banks connect model --reason "going live"', 'svc banks test model'],
  },
  list,
  registrations,
  ...BANK_ACTIONS,
  test,
  { command: 'banks software-statement', summary: 'Set and show the software statement' },
  setStatement,
  showStatement,
  rotateKeys,
]
