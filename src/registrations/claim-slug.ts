import type { App } from '../app.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { RESERVED_REALMS, slugOf } from '../lib/realms.ts'
import { limitRegistrations } from './limit.ts'
import { findRegistration, insertRegistration, takeOverRegistration } from './sql.ts'
import type { Draft } from './sql.ts'
import { rollBack } from './roll-back.ts'

/** How long one process owns a registration: much longer than it takes, because a provider may be slow. */
export const LEASE_SECONDS = 60

/**
 * The realm's name for a company (decision 46).
 * @throws {DomainError} VALIDATION_FAILED at `company_name`, REALM_EXISTS for a reserved name
 */
export function usableSlug(companyName: string): string {
  const slug = slugOf(companyName)
  if (slug === undefined) {
    throw invalidField(
      'company_name',
      'UNUSABLE_NAME',
      'must have at least 3 Latin letters or digits, no invisible characters, and no word that mixes alphabets',
    )
  }
  if (RESERVED_REALMS.includes(slug)) throw realmExists(slug)
  return slug
}

export function realmExists(slug: string, cause?: unknown): DomainError {
  return new DomainError('REALM_EXISTS', `the realm name ${slug}, derived from company_name, is taken`, {
    next: 'register under another company_name; if this company is yours, sign in or ask an operator',
    ...(cause === undefined ? {} : { cause }),
  })
}

export type ClaimSlugInput = Omit<Draft, 'leaseSeconds'> & {
  /** Null if the caller's address is not known. */
  clientAddress: string | null
}

/**
 * Claims a slug before anything is created at the identity provider, so that one of several concurrent registrations
 * gets it. A slug of a failed or incomplete registration is free again, after its leftovers are deleted (decision 47).
 * @throws {DomainError} REALM_EXISTS, RATE_LIMITED
 * @throws {IdentityUnavailableError}
 */
export async function claimSlug(app: App, { clientAddress, ...input }: ClaimSlugInput): Promise<void> {
  const draft: Draft = { ...input, leaseSeconds: LEASE_SECONDS }
  const isMine = await app.pool.transaction(async (tx) => {
    if (clientAddress !== null) await limitRegistrations(app, tx, clientAddress)
    return insertRegistration(tx, draft)
  })
  if (isMine) return
  const known = await findRegistration(app.pool, draft.slug)
  if (known === null || known.status === 'COMPLETE' || known.is_underway) throw realmExists(draft.slug)
  if (known.status === 'PROVISIONING') {
    await rollBack(app, known, { failure: known.failure ?? 'it was left incomplete', onlyAbandoned: true })
  } else {
    // Nothing should be left, unless a slow provider created the realm after the registration was given up.
    await app.identity.deleteRealm(known.slug, known.id)
  }
  if (!(await takeOverRegistration(app.pool, { failedId: known.id, draft }))) throw realmExists(draft.slug)
}
