import type { App } from '../app.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { RESERVED_REALMS, slugOf } from '../lib/realms.ts'
import { limitRegistrations } from './limit.ts'
import { findRegistration, insertRegistration, takeOverRegistration } from './sql.ts'
import type { Draft } from './sql.ts'
import { rollBack } from './roll-back.ts'

/** How long a registration is one process's own: far longer than it takes, for a provider may be slow. */
export const LEASE_SECONDS = 60

/**
 * The realm's name for a company (decision 46).
 * @throws {DomainError} VALIDATION_FAILED at `company_name`, REALM_EXISTS for a reserved one
 */
export function usableSlug(companyName: string): string {
  const slug = slugOf(companyName)
  if (slug === undefined) {
    throw invalidField(
      'company_name',
      'UNUSABLE_NAME',
      'must have at least 3 letters of the Latin alphabet or digits, no invisible characters, and no word that mixes alphabets',
    )
  }
  if (RESERVED_REALMS.includes(slug)) throw realmExists(slug)
  return slug
}

export function realmExists(slug: string, cause?: unknown): DomainError {
  return new DomainError('REALM_EXISTS', `the name ${slug}, made from company_name, is taken`, {
    next: 'register under another company_name; if this company is yours, sign in or ask an operator',
    ...(cause === undefined ? {} : { cause }),
  })
}

export type ClaimSlugInput = Omit<Draft, 'leaseSeconds'> & {
  /** Where the caller's address is known. */
  clientAddress: string | null
}

/**
 * Takes a slug before anything is made at the identity provider, so that of many that want it one gets it. One whose
 * registration failed, or was left half-made, is free again: what is left of that is taken away first (decision 47).
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
    await rollBack(app, known, { failure: known.failure ?? 'it was left half-made', onlyAbandoned: true })
  } else {
    // Nothing should be left of it, unless a slow provider made the realm after everyone had given up.
    await app.identity.deleteRealm(known.slug, known.id)
  }
  if (!(await takeOverRegistration(app.pool, { failedId: known.id, draft }))) throw realmExists(draft.slug)
}
