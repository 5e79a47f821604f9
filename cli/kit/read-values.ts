import { CliError, joinedFields, usageError } from '../base/errors.ts'
import type { ToldField } from '../base/errors.ts'
import type { AnyAction, Flag, Flags, Given } from './action.ts'
import { flagOf, memberOf } from './action.ts'

/** Why; it stands in the audit trail. */
export const optionalReason = {
  value: 'text',
  summary: 'Reason, recorded in the audit trail',
  label: 'Why; it stands in the audit trail',
  long: true,
  read(text) {
    if (text.trim() === '') throw usageError('must not be empty; it is recorded in the audit trail')
    return text.trim()
  },
} as const satisfies Flag

/** The same where people have to say it. */
export const reason = { ...optionalReason, required: true } as const satisfies Flag

/**
 * What was given, as requests take it.
 * @param nameOf what the reader calls a flag
 * @throws {CliError} USAGE, exit code 2, naming the flag
 */
export function readValues(flags: Flags, given: Given, nameOf = displayName): Record<string, string | boolean> {
  const values = Object.entries(flags).flatMap(([name, flag]): [string, string | boolean][] => {
    const value = given[name]
    if (value === undefined || value === false || (value === '' && flag.required !== true)) return []
    return [[name, typeof value === 'string' ? readValue(flag, value, nameOf(name, flag)) : value]]
  })
  return Object.fromEntries(values)
}

function readValue({ read }: Flag, text: string, name: string): string {
  try {
    return read === undefined ? text : read(text)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    throw new CliError(error.code, `${name}: ${error.message}`, { ...error.options, cause: error })
  }
}

function displayName(name: string, { positional }: Flag): string {
  return positional === true ? `<${name}>` : flagOf(name)
}

/** A refusal of the service told by the flags that the values came from. */
export function withFlags(error: unknown, { flags }: Pick<AnyAction, 'flags'>): unknown {
  if (!(error instanceof CliError)) return error
  const { fields = [] } = error.options
  if (fields.length === 0) return error
  const names = Object.entries(flags as Flags).map(([name, flag]) => ({
    member: flag.member ?? memberOf(name),
    flag: displayName(name, flag),
  }))
  const told = fields.map((field): ToldField => {
    const named =
      names.find(({ member }) => field.path === member) ??
      names.find(({ member }) => field.path.startsWith(`${member}.`))
    const message = names.reduce((text, { member, flag }) => withFlag(text, member, flag), field.message)
    return named === undefined ? { ...field, message } : { ...field, message, flag: named.flag }
  })
  // A message of other words says something of its own.
  const message = error.message === joinedFields(fields) ? joinedFields(told) : error.message
  return new CliError(error.code, message, { ...error.options, fields: told, cause: error })
}

/** Members that a rule speaks of are flags as well; one that is an English word, such as status, is left as it is. */
function withFlag(message: string, member: string, flag: string): string {
  return /[_A-Z]/.test(member) ? message.replaceAll(new RegExp(`(?<![\\w-])${member}(?!\\w)`, 'g'), flag) : message
}
