import type { DatabaseTransactionConnection } from 'slonik'
import type { IdentityProvider, Invitation } from './provider.ts'

export type InviteInput = { realm: string; userId: string; invitation: Invitation }

/** The link of an invitation, where it is not mailed; undefined where the provider could not be part of the transaction. */
export type SentWithin = { link: string | null } | undefined

/**
 * Invites in the transaction that adds the person, where the provider keeps its state in the service's database: of two
 * concurrent invitations for the last mail of the hour, the second adds no person.
 * @throws {DomainError} RATE_LIMITED
 */
export async function inviteWithin(
  identity: IdentityProvider,
  tx: DatabaseTransactionConnection,
  { realm, userId, invitation }: InviteInput,
): Promise<SentWithin> {
  const provider = identity.within?.(tx)
  return provider && { link: await provider.inviteUser(realm, userId, invitation) }
}

/** Invites after the commit, unless `inviteWithin` has. @returns the link, where it is not mailed */
export async function inviteAfter(
  identity: IdentityProvider,
  sent: SentWithin,
  { realm, userId, invitation }: InviteInput,
): Promise<string | null> {
  return sent === undefined ? identity.inviteUser(realm, userId, invitation) : sent.link
}
