import type { Command } from 'commander'
import { CliError, joinedFields } from './errors.ts'
import type { ToldField } from './errors.ts'

/** What a command calls a member, where neither the whole name nor a part of it is the flag's. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  account_holder_name: 'holder',
  merchant_evidence: 'text',
  payer_statement: 'statement',
  webhook_url: 'url',
}

/** A refusal of values, told in the words of the command line: its user has typed flags, and no request. */
export function inFlags(error: unknown, command: Command): unknown {
  if (!(error instanceof CliError)) return error
  const { fields = [] } = error.options
  const told = fields.map((field): ToldField => {
    const flag = flagOf(field.path, command)
    return flag === undefined ? field : { ...field, flag }
  })
  if (told.every(({ flag }) => flag === undefined)) return error
  // A message of other words says something of its own.
  const message = error.message === joinedFields(fields) ? joinedFields(told) : error.message
  return new CliError(error.code, message, { ...error.options, fields: told, cause: error })
}

function flagOf(path: string, { options, registeredArguments }: Command): string | undefined {
  const [member = ''] = path.split('.')
  const words = member.replace(/s$/, '').split(/[-_]/)
  const names = [
    member.replaceAll('_', '-'),
    OTHER_NAMES[member] ?? '',
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
