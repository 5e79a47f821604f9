import type { Command } from 'commander'
import { CliError, joinedFields, withHint } from '../base/errors.ts'
import type { ToldField } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { flagOf } from './action.ts'

/** What a command calls a member, where neither the whole name nor a part of it is the flag's. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  account_holder_name: 'holder',
  // Of the feed and of lists.
  after: 'cursor',
  from: 'since',
  to: 'until',
  fromBookingDateTime: 'since',
  toBookingDateTime: 'until',
  // Of a mandate, whose caps stand in one member.
  'control_parameters.max_amount_per_payment': 'max-amount',
  control_parameters: 'periodic',
  // Of a checkout token.
  debtorAccountScheme: 'debtor-account',
  debtorIdentification: 'debtor-account',
  exp: 'expires-in',
}

/** A refusal of values, told in the words of the command line: its user has typed flags, and no request. */
export function inFlags(error: unknown, command: Command): unknown {
  if (!(error instanceof CliError)) return error
  const { fields = [] } = error.options
  const told = fields.map((field): ToldField => {
    const flag = field.flag ?? flagIn(field.path, command)
    return flag === undefined ? field : { ...field, flag }
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

function flagIn(path: string, { options, registeredArguments }: Command): string | undefined {
  const [member = ''] = path.split('.')
  const words = member.replace(/s$/, '').split(/[-_]/)
  const names = [
    flagOf(member).slice(2).replaceAll('_', '-'),
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
