import type { Command } from 'commander'
import { CliError, joinedFields, withHint } from '../base/errors.ts'
import type { ToldField } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'

/** What a command calls a member, where neither the whole name nor a part of it is the flag's. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  account_holder_name: 'holder',
  // Of the feed.
  after: 'cursor',
  from: 'since',
  to: 'until',
  merchant_evidence: 'text',
  payer_statement: 'statement',
  webhook_url: 'url',
  // Of a mandate, whose caps stand in one member.
  'control_parameters.max_amount_per_payment': 'max-amount',
  control_parameters: 'periodic',
  // Of a checkout token.
  callbackOrigin: 'callback-origin',
  debtorAccountScheme: 'debtor-account',
  debtorIdentification: 'debtor-account',
  exp: 'expires-in',
  merchantName: 'merchant-name',
  payerName: 'payer-name',
  remittanceReference: 'remittance-reference',
  returnUrl: 'return-url',
  // Of the Open Banking API, whose names have capitals.
  'CreditorAccount.Name': 'name',
  CreditorAccount: 'to',
  DebtorAccount: 'from',
  FinalPaymentDateTime: 'final',
  FirstPaymentDateTime: 'first',
  Frequency: 'frequency',
  'InstructedAmount.Amount': 'amount',
  'InstructedAmount.Currency': 'currency',
  NextPaymentDateTime: 'next',
  RemittanceInformation: 'reference',
  fromBookingDateTime: 'since',
  pageSize: 'page-size',
  toBookingDateTime: 'until',
}

/** A refusal of values, told in the words of the command line: its user has typed flags, and no request. */
export function inFlags(error: unknown, command: Command): unknown {
  if (!(error instanceof CliError)) return error
  const { fields = [] } = error.options
  const told = fields.map((field): ToldField => {
    const flag = field.flag ?? flagOf(field.path, command)
    return flag === undefined ? field : { ...field, flag, message: withFlags(field.message, command) }
  })
  if (told.every(({ flag }) => flag === undefined)) return error
  // A message of other words says something of its own.
  const message = error.message === joinedFields(fields) ? joinedFields(told) : error.message
  return new CliError(error.code, message, { ...error.options, fields: told, cause: error })
}

/** A value that is wrong, where nothing says what to try: the command's help says what it may be. */
export function withHelp(error: unknown, command: Command): unknown {
  if (!(error instanceof CliError) || error.options.hint !== undefined || !isOfValue(error)) return error
  return withHint(error, `svc ${pathOf(command)} --help`)
}

function isOfValue({ code, options }: CliError): boolean {
  return options.exit === EXIT.usage && /^(USAGE|VALIDATION_FAILED|UK\.OBIE\.Field\..+)$/.test(code)
}

function pathOf(command: Command): string {
  const { parent } = command
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`
}

/** Members that a rule compares with are flags as well: `is before FirstPaymentDateTime`. */
function withFlags(message: string, command: Command): string {
  return message.replaceAll(/\b[A-Za-z]+DateTime\b/g, (member) => flagOf(member, command) ?? member)
}

function flagOf(path: string, { options, registeredArguments }: Command): string | undefined {
  const [member = ''] = path.split('.')
  const words = member.replace(/s$/, '').split(/[-_]/)
  const names = [
    member.replaceAll('_', '-'),
    OTHER_NAMES[path] ?? OTHER_NAMES[member] ?? '',
    words.slice(0, -1).join('-'),
    words.slice(1).join('-'),
    words.join('-'),
  ]
  for (const name of names.filter((each) => each !== '')) {
    const option = options.find(({ long }) => long === `--${name}`)
    if (option?.long !== undefined && option.long !== null) return option.long
    const argument = registeredArguments.find((each) => each.name() === name)
    if (argument !== undefined) return `<${name}>`
  }
  return undefined
}
