import { canonicalJson } from '../lib/canonical-json.ts'
import { BankError } from './bank-error.ts'
import type { Account, Books, Consent, ConsentKind, Payment } from './books.ts'
import type { Faults } from './faults.ts'
import type { Quirks } from './quirks.ts'
import type { Version } from './versions.ts'

/** A request for a resource that has passed all checks that are the same for each of them (check-request.ts). */
export type ResourceRequest = {
  books: Books
  faults: Faults
  quirks: Quirks
  version: Version
  /** The address of this version's resources. */
  baseUrl: string
  id: string
  token: ResourceToken
  body: unknown
}

/** `client` tokens come from client credentials, `payer` tokens from a code that a payer's approval gave. */
export type ResourceToken = { clientId: string; kind: 'client' | 'payer'; grantId: string | undefined }

export type ResourceAnswer = { status: number; body?: Record<string, unknown> }

/** The client's own consent of that kind. Another client's is as unknown as one that never was. */
export function findConsent({ books, token }: ResourceRequest, id: string, kind: ConsentKind): Consent {
  const consent = books.consents.get(id)
  if (consent === undefined || consent.kind !== kind || consent.clientId !== token.clientId) {
    throw new BankError('UK.OBIE.Resource.NotFound', `no ${kind} consent has this id`)
  }
  return consent
}

/** The consent that a payer's token was given for, and no other. */
export function findConsentOfToken(request: ResourceRequest, id: string, kind: ConsentKind): Consent {
  const consent = findConsent(request, id, kind)
  if (consent.grantId === undefined || consent.grantId !== request.token.grantId) {
    throw new BankError('UK.OBIE.Forbidden', 'the access token belongs to another consent')
  }
  return consent
}

export function linksOf(self: string): Record<string, unknown> {
  return { Links: { Self: self }, Meta: {} }
}

/** The client's own payment of that kind, of the id in the address. */
export function findPayment({ books, id, token }: ResourceRequest, kind: ConsentKind): Payment {
  const payment = books.payments.get(id)
  if (payment === undefined || payment.kind !== kind || payment.clientId !== token.clientId) {
    throw new BankError('UK.OBIE.Resource.NotFound', `no ${kind} has this id`)
  }
  return payment
}

/** A payment repeats what the payer approved: the same members with the same values, whatever their order. */
export function refuseChange(path: string, sent: unknown, approved: unknown): void {
  if (canonicalJson(sent) === canonicalJson(approved)) return
  throw new BankError('UK.OBIE.Resource.ConsentMismatch', `${path} is not the consent's`, { path })
}

export function notAuthorised({ status }: Consent): BankError {
  return new BankError('UK.OBIE.Resource.InvalidConsentStatus', `the consent is ${status}, not authorised`)
}

export function accountShown({ SchemeName, Identification, Name }: Account): Record<string, unknown> {
  return { SchemeName, Identification, Name }
}
