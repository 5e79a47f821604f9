import { CliError, joinedFields, withHint } from '../base/errors.ts'
import type { ToldField } from '../base/errors.ts'
import { membersOf, textOr } from '../client/error-hints.ts'
import { wholeCommand } from '../kit/command-line.ts'
import { commandFor, commandMending, commandReading } from './next-steps.ts'
import type { Typed } from './next-steps.ts'

/** A refusal of the service of a token that was made by flags: each of them by its name, and a command that goes on. */
export function refusedMade(error: unknown, typed: Typed): unknown {
  if (!(error instanceof CliError)) return error
  const fields = (error.options.fields ?? []).map((field) => withGlobalFlag(field))
  switch (error.code) {
    case 'CHECKOUT_TOKEN_INVALID':
      return fields.length === 0
        ? withHint(
            error,
            `${commandReading(typed)}\nwhere the signature is wrong, the secret as it is now: svc secret show`,
          )
        : told(error, fields, { hint: commandMending(typed, fields) })
    case 'CHECKOUT_TOKEN_EXPIRED':
      return withHint(error, commandFor(typed, { expiresIn: undefined }))
    case 'CHECKOUT_ATTEMPTS_USED':
    case 'CHECKOUT_ALREADY_PAID':
      return withHint(error, `one for another order: ${commandFor(typed, { jti: undefined })}`)
    case 'CHECKOUT_ORIGIN_NOT_ALLOWED':
      return withHint(error, allowing(fields))
    default:
      return error
  }
}

/** Of one that exists: by the names that stand in it, and with one that would be taken to compare it with. */
export function refusedDecoded(error: unknown, content: unknown): unknown {
  if (!(error instanceof CliError)) return error
  const fields = error.options.fields ?? []
  const { amount, currency } = membersOf(content)
  const another = (given: { amount: string; currency: string }): string => wholeCommand('svc checkout token', given)
  const same = another({ amount: textOr(amount, '50.00'), currency: textOr(currency, 'GBP') })
  switch (error.code) {
    case 'CHECKOUT_TOKEN_INVALID': {
      const good = another({ amount: '50.00', currency: 'GBP' })
      const hint = `what it says: svc checkout token --decode - < token.txt\none to compare with: ${good}`
      return fields.length === 0 ? withHint(error, hint) : told(error, fields, { hint, isOfContent: true })
    }
    case 'CHECKOUT_TOKEN_EXPIRED':
    case 'CHECKOUT_ATTEMPTS_USED':
      return withHint(error, `a new one: ${same}`)
    case 'CHECKOUT_ORIGIN_NOT_ALLOWED':
      return withHint(error, allowing(fields))
    default:
      return error
  }
}

/** Each value once, where the service's own message has them too. */
function told(error: CliError, fields: readonly ToldField[], more: { hint: string; isOfContent?: boolean }): CliError {
  return new CliError(error.code, joinedFields(fields), { ...error.options, fields, ...more, cause: error })
}

/** Flags that every command has. */
const GLOBAL_FLAGS: Readonly<Record<string, string>> = { apiUrl: '--api-url', merchantClientId: '--client-id' }

function withGlobalFlag(field: ToldField): ToldField {
  const flag = GLOBAL_FLAGS[field.path]
  return flag === undefined ? field : { ...field, flag }
}

function allowing(fields: readonly ToldField[]): string {
  const origins = new Set(fields.flatMap(({ value }) => value ?? []))
  const some = origins.size === 0 ? 'https://shop.example' : [...origins].join(' ')
  return `which pages may show it: svc checkout origins list\nto allow one more: svc checkout origins add ${some}`
}
