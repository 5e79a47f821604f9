import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { DomainError } from '../../lib/errors.ts'
import type { FieldError } from '../../lib/errors.ts'
import { findCustomerByProxy } from './directory-sql.ts'
import type { Counterparty } from './record.ts'

/** An identifier of a customer in normalised form (decision 5). */
type Identifier = { kind: 'EMAIL' | 'MOBILE' | 'PROXY'; proxy: string }

const EMAIL = z.email().max(320)
/** E.164. */
const MOBILE = /^\+[1-9]\d{7,14}$/
const PROXY = /^[A-Za-z0-9._-]{1,64}$/

/**
 * Parses an e-mail address, which is lower-cased, a mobile number with its `+`, which may be grouped by spaces and
 * hyphens, or a case-sensitive proxy id. The three forms are disjoint. Undefined for any other text.
 */
function identifierOf(text: string): Identifier | undefined {
  if (PROXY.test(text)) return { kind: 'PROXY', proxy: text }
  const digits = text.replaceAll(/(?<=\d)[ -](?=\d)/g, '')
  if (MOBILE.test(digits)) return { kind: 'MOBILE', proxy: digits }
  return EMAIL.safeParse(text).success ? { kind: 'EMAIL', proxy: text.toLowerCase() } : undefined
}

/** The error code of an unknown identifier. */
const UNKNOWN = 'UNSUPPORTED_ACCOUNT_IDENTIFIER'

/** Whether a request was rejected because of an unknown identifier. */
export function isUnknownIdentifier(error: unknown): boolean {
  return error instanceof DomainError && error.errors?.some(({ code }) => code === UNKNOWN) === true
}

const WRONG_FORM = {
  code: 'INVALID',
  message:
    'must be an e-mail address, a mobile number such as +447700900123, or a proxy id of 1 to 64 letters, digits, dots, hyphens or underscores',
}

/** The problem of a malformed identifier, without looking it up. */
export function wrongIdentifier(text: string): Omit<FieldError, 'path'> | undefined {
  return identifierOf(text) === undefined ? WRONG_FORM : undefined
}

/** The other customer with this identifier, or the error without its path. */
export async function lookUp(
  db: CommonQueryMethods,
  { identifier, customerId }: { identifier: string; customerId: string },
): Promise<Counterparty | Omit<FieldError, 'path'>> {
  const parsed = identifierOf(identifier)
  if (parsed === undefined) return WRONG_FORM
  const found = await findCustomerByProxy(db, parsed)
  if (found === null) {
    const message =
      parsed.kind === 'PROXY'
        ? 'BE23: no customer has this proxy id'
        : 'NRCH: no customer can be reached under this e-mail address or mobile number'
    return { code: UNKNOWN, message }
  }
  return found.id === customerId ? { code: 'INVALID', message: 'is your own identifier: name another customer' } : found
}
