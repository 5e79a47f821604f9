import type { DatabaseTransactionConnection } from 'slonik'
import { inviteCounted } from './invitation-limit.ts'
import type { InviteApp, InviteInput } from './invitation-limit.ts'
import type { IdentityProvider } from './provider.ts'

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
export async function inviteAfter(app: InviteApp, sent: SentWithin, input: InviteInput): Promise<string | null> {
  return sent === undefined ? inviteCounted(app, input) : sent.link
}
