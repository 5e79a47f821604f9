import type { Operation, OperationInput } from '../../src/wire/operation.ts'
import type { Chosen, Identity } from './auth/identity.ts'

/** A refusal as the API tells it, and what was asked by whom. */
export type Told = {
  who: { merchant: Identity | undefined; customer?: Identity | undefined; chosen?: Chosen | undefined }
  operation: Operation
  input: OperationInput<Operation>
  code: string
  message: string
  /** The API's own advice, which is written for HTTP. */
  next: string | undefined
}

/** The next step after a refusal; undefined where the API's own advice is the best there is. */
export type Hint = (told: Told) => string | undefined

export function isForMerchant({ access }: Operation): boolean {
  return access.includes('merchant')
}

export function isForOperators({ access }: Operation): boolean {
  return access.includes('platform')
}

export function isForCustomers({ access }: Operation): boolean {
  return access.includes('customer')
}

export function isForPayers({ access }: Operation): boolean {
  return access.includes('payer')
}

/** A part of the request's path, as it was asked for. */
export function paramOf({ input }: Told, name: string): string {
  return textOr(membersOf(input.params)[name], `<${name}>`)
}

export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(Object(value)))
}

export function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}
