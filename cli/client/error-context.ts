import type { Access, Operation, OperationInput } from '../../src/wire/operation.ts'
import type { Chosen, Identity } from './auth/credentials.ts'

/** An error of the API, with what was called and by whom. */
export type FailedCall = {
  who: { merchant: Identity | undefined; customer?: Identity | undefined; chosen?: Chosen | undefined }
  operation: Operation
  input: OperationInput<Operation>
  code: string
  message: string
  /** The API's own advice, which is written for HTTP. */
  next: string | undefined
  /** The same as the name of an operation. */
  nextStep?: string | undefined
  /** The amount that is still possible. */
  available?: string | undefined
}

/** Texts by the kind of caller that the operation is for: the first that fits. */
type ByAccess = Partial<Record<Access, string>> & { any: string }

/**
 * The next step after an error, in which `<id>` is that of the request's path, and `<merchant>` the caller's; undefined
 * where the API's own advice is the best there is.
 */
export type Hint = string | ByAccess | ((failed: FailedCall) => string | undefined)

export function hintText(hint: Hint, failed: FailedCall): string | undefined {
  const text =
    typeof hint === 'string' ? hint : typeof hint === 'function' ? hint(failed) : byAccess(hint, failed.operation)
  return text?.replaceAll(/<(\w+)>/g, (placeholder, name: string) =>
    name === 'merchant' ? merchantOf(failed) : textOr(membersOf(failed.input.params)[name], placeholder),
  )
}

function byAccess(hint: ByAccess, { access }: Operation): string {
  const fitting = Object.entries(hint).find(([kind]) => access.some((each) => each === kind))
  return fitting?.[1] ?? hint.any
}

/** How an operator names the merchant that the caller acts for. */
function merchantOf({ who: { merchant } }: FailedCall): string {
  return merchant?.realm ?? merchant?.clientId ?? '<realm>'
}

export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(Object(value)))
}

export function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}
