import { UserExistsError } from './provider.ts'
import type { IdentityProvider } from './provider.ts'

type EnsureUserInput = {
  realm: string
  email: string
  displayName?: string | undefined
  /** Whether our own records show that the user with this id was removed. */
  isRemoved(userId: string): Promise<boolean>
}

/**
 * Finds or creates a user with this address, without any role: roles are assigned once our own record is written. A
 * user left behind by a crash is reused; a user that a removal could not delete is deleted now, with its sessions.
 * @returns the user's id
 * @throws {IdentityUnavailableError}
 */
export async function ensureUser(identity: IdentityProvider, input: EnsureUserInput): Promise<string> {
  const { realm, email, displayName } = input
  const user = { email, roles: [], ...(displayName === undefined ? {} : { displayName }) }
  try {
    return await identity.createUser(realm, user)
  } catch (error) {
    if (!(error instanceof UserExistsError)) throw error
  }
  const found = await identity.findUser(realm, email)
  if (found !== null && !(await input.isRemoved(found))) return found
  if (found !== null) await identity.deleteUser(realm, found)
  return identity.createUser(realm, user)
}

/**
 * Returns the recorded user, or creates another one if the provider no longer has it: it was deleted there, or the
 * record was written while no provider was configured. The caller writes the id into its record.
 * @param input `userId` is the id in our record, of a user without a password
 * @returns the user's id
 * @throws {IdentityUnavailableError}
 */
export async function ensureRecordedUser(
  identity: IdentityProvider,
  { userId, ...input }: EnsureUserInput & { userId: string },
): Promise<string> {
  if (identity.kind === 'none') return userId
  if ((await identity.findUser(input.realm, input.email)) === userId) return userId
  // It may exist under another address, and every account must have a record of ours.
  await identity.deleteUser(input.realm, userId)
  return ensureUser(identity, input)
}

/** More concurrent changes of one user than happen in practice. */
const ATTEMPTS_MAX = 5

type SyncRolesInput = {
  realm: string
  userId: string
  /** The role in our own records; null once the user has none. */
  currentRole(): Promise<string | null>
}

/**
 * Assigns the role in our records and then reads them again, so that of two concurrent changes the later one ends up in
 * both places. Repeating the call repairs an earlier failure.
 * @throws {IdentityUnavailableError}
 */
export async function syncRoles(
  identity: IdentityProvider,
  { realm, userId, currentRole }: SyncRolesInput,
): Promise<void> {
  let role = await currentRole()
  for (let attempt = 0; attempt < ATTEMPTS_MAX && role !== null; attempt += 1) {
    await identity.setUserRoles(realm, userId, [role])
    const now = await currentRole()
    if (now === role) return
    role = now
  }
}
