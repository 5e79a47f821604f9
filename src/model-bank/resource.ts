import { BankError } from './bank-error.ts'
import type { Books, Consent, ConsentKind } from './books.ts'
import type { Faults } from './faults.ts'
import type { Version } from './versions.ts'

/** A request for a resource that has passed all checks that are the same for each of them (check-request.ts). */
export type ResourceRequest = {
  books: Books
  faults: Faults
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
