import { UserExistsError } from './provider.ts'
import type { IdentityProvider } from './provider.ts'

type EnsureUserInput = {
  realm: string
  email: string
  displayName?: string | undefined
  /** Whether our own records say that the user with this id was removed. */
  isRemoved(userId: string): Promise<boolean>
}

/**
 * A user with this address who has no rights yet: they are given once our own record says so. What a crash left behind
 * is taken up again, and what a removal could not take away goes now, with its sessions.
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
 * The user whom our own record names, or another one where the provider has that one no longer: somebody has deleted it
 * there, or the record was made without a provider. The caller writes the id into its record.
 * @param wanted `userId` is the one in our record, who has set no password
 * @returns the user's id
 * @throws {IdentityUnavailableError}
 */
export async function ensureRecordedUser(
  identity: IdentityProvider,
  { userId, ...input }: EnsureUserInput & { userId: string },
): Promise<string> {
  if (identity.kind === 'none') return userId
  if ((await identity.findUser(input.realm, input.email)) === userId) return userId
  // It may be there under another address: no account must be left that our records know nothing of.
  await identity.deleteUser(input.realm, userId)
  return ensureUser(identity, input)
}

/** More changes of one person at a time than people make. */
const ATTEMPTS_MAX = 5

type SyncRolesInput = {
  realm: string
  userId: string
  /** The role in our own records; null where the person has none any more. */
  currentRole(): Promise<string | null>
}

/**
 * Gives the user the role that our records say, and looks again: of two changes at once the later one stands in both
 * places. Repeating it heals whatever failed before.
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
