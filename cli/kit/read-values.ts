import type { Operation, OperationInput } from '../../src/wire/operation.ts'
import { CliError, joinedFields, usageError } from '../base/errors.ts'
import type { FlagFieldError } from '../base/errors.ts'
import type { AnyAction, Flag, Flags, FlagValues } from './action.ts'
import { flagOf, memberOf } from './action.ts'

/** Reads a value that has a form of its own. @param problem what is wrong with any other */
export function matching(form: RegExp, problem: string): (text: string) => string {
  return (text) => {
    if (form.test(text)) return text
    throw usageError(problem)
  }
}

/** Reads a code that people may type in small letters, such as that of a currency. */
export function upperCase(text: string): string {
  return text.toUpperCase()
}

/** The reason, which is kept in the audit trail. */
export const optionalReason = {
  value: 'text',
  summary: 'Reason, recorded in the audit trail',
  label: 'Reason, kept in the audit trail',
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
export function readValues(flags: Flags, given: FlagValues, nameOf = displayName): Record<string, string | boolean> {
  const values = Object.entries(flags).flatMap(([name, flag]): [string, string | boolean][] => {
    const value = given[name]
    if (value === undefined || value === false || (value === '' && flag.required !== true)) return []
    return [[name, typeof value === 'string' ? readText(flag, value, nameOf(name, flag)) : value]]
  })
  return Object.fromEntries(values)
}

/** What was given for the flags, by the members of the request that they stand for; what was not given is left out. */
export function bodyFrom(flags: Flags, given: object): Record<string, unknown> {
  const members = Object.entries(flags).map(([name, { member = memberOf(name) }]) => [member, Reflect.get(given, name)])
  return Object.fromEntries(members.filter(([, value]) => value !== undefined && value !== false))
}

/**
 * What an action sends: as it says itself, or its flags by their members, about the thing that the path names. Without
 * flags there is no body.
 */
export function requestOf(
  { operation, flags, request }: AnyAction,
  { id, values, thing, key }: { id: string; values: FlagValues; thing?: unknown; key?: string },
): OperationInput<Operation> {
  if (request !== undefined) return request(id, values, thing, key)
  const params = Object.fromEntries(Object.keys(operation.params.shape).map((name) => [name, id]))
  return Object.keys(flags).length === 0 ? { params } : { params, body: bodyFrom(flags, values) }
}

/** One value as commands take it. @throws {CliError} USAGE, exit code 2, naming the flag */
export function readValue(flag: Flag, text: string, name: string): string {
  return readText(flag, text, displayName(name, flag))
}

function readText({ read }: Flag, text: string, name: string): string {
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

/** An error of the service in terms of the flags that the values came from: its user typed flags, not a request. */
export function withFlags(error: unknown, flags: Flags): unknown {
  if (!(error instanceof CliError)) return error
  const { fields = [] } = error.options
  const names = Object.entries(flags).map(([name, flag]) => ({
    members: [flag.member ?? memberOf(name), name],
    flag: displayName(name, flag),
  }))
  const named = fields.map((field): FlagFieldError => {
    if (field.flag !== undefined) return field
    const named =
      names.find(({ members }) => members.includes(field.path)) ??
      names.find(({ members }) => members.some((member) => field.path.startsWith(`${member}.`)))
    const message = names.reduce(
      (text, { members: [member = ''], flag }) => withFlag(text, member, flag),
      field.message,
    )
    return named === undefined ? { ...field, message } : { ...field, message, flag: named.flag }
  })
  // A message of other words says something of its own.
  const message = error.message === joinedFields(fields) ? joinedFields(named) : error.message
  return fields.length === 0
    ? error
    : new CliError(error.code, message, { ...error.options, fields: named, cause: error })
}

/** Members that a rule speaks of are flags as well; one that is an English word, such as status, is left as it is. */
function withFlag(message: string, member: string, flag: string): string {
  return /[_A-Z]/.test(member) ? message.replaceAll(new RegExp(`(?<![\\w-])${member}(?!\\w)`, 'g'), flag) : message
}
