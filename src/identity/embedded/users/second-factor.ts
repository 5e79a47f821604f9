import { createHash, randomBytes } from 'node:crypto'
import type { CommonQueryMethods } from 'slonik'
import { recordAction } from '../../../audit/record-action.ts'
import { isUuid } from '../../../lib/ids.ts'
import type { SealContext } from '../../../lib/seal.ts'
import { base32, matchingStep } from '../../../lib/totp.ts'
import { queueMail } from '../../../mail/queue.ts'
import { endSessions } from '../protocol/sessions-sql.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { UserRecord } from '../record.ts'
import { deletePasskey, insertPasskey, listPasskeys } from './passkeys-sql.ts'
import type { NewPasskey } from './passkeys-sql.ts'
import {
  countRecoveryCodes,
  deleteFactor,
  factorOf,
  hasApp,
  replaceRecoveryCodes,
  startCodeAttempt,
  storeApp,
  touchFactor,
  useRecoveryCode,
  useStep,
} from './second-factor-sql.ts'
import { isSignInValid } from './sign-in-step.ts'
import { lockUser } from './users-sql.ts'

/** As long as an HMAC-SHA-1 (RFC 4226, section 4). */
const SECRET_BYTES = 20
const RECOVERY_CODES = 10
const RECOVERY_BYTES = 10

/** Whether the user may sign in with a second factor only, by its role. */
export function requiresFactor(
  { config }: Pick<EmbeddedParts, 'config'>,
  { roles }: Pick<UserRecord, 'roles'>,
): boolean {
  return roles.some((role) => config.secondFactorRoles.has(role))
}

/** The context that an authenticator's secret is sealed to. */
export function factorContext(userId: string): SealContext {
  return { table: 'idp.second_factors', column: 'secret', rowId: userId, merchantId: '' }
}

/** A new secret for an authenticator app. */
export function makeSecret(): Buffer {
  return randomBytes(SECRET_BYTES)
}

export type CodeResult = 'accepted' | 'recovered' | 'rejected'

/** The wrong code that locks first (login-attempts-sql.ts). */
const LOCKING_ATTEMPT = 5

/**
 * Checks a code of the user's app, or one of its recovery codes. Each is accepted once. Who tries them knows the
 * password, so the person is mailed at the first lock.
 */
export async function checkCode(parts: EmbeddedParts, user: UserRecord, text: string): Promise<CodeResult> {
  const attempt = await startCodeAttempt(parts.pool, user.id)
  if (attempt === null) return 'rejected'
  const result = await compareCode(parts, user, { secret: attempt.secret, text })
  if (result === 'rejected' && attempt.failed_codes === LOCKING_ATTEMPT) {
    await mailChange(
      parts,
      parts.pool,
      user,
      `Five wrong codes were entered after your password to sign in to ${user.realm} as ${user.email}. Codes are locked for a minute, and longer with each further one.`,
    )
    parts.wake.notify('send-mails')
  }
  return result
}

async function compareCode(
  parts: EmbeddedParts,
  user: UserRecord,
  { secret: sealed, text }: { secret: string | null; text: string },
): Promise<CodeResult> {
  const code = text.replaceAll(/[\s-]/g, '').toUpperCase()
  if (code.length > 6) return (await recover(parts, user, code)) ? 'recovered' : 'rejected'
  if (sealed === null) return 'rejected'
  const secret = Buffer.from(parts.sealer.open(sealed, factorContext(user.id)), 'base64')
  const step = matchingStep(secret, code, Date.now())
  const isAccepted = step !== undefined && (await useStep(parts.pool, { userId: user.id, secret: sealed, step }))
  return isAccepted ? 'accepted' : 'rejected'
}

async function recover(parts: EmbeddedParts, user: UserRecord, code: string): Promise<boolean> {
  const isUsed = await parts.pool.transaction(async (tx) => {
    if (!(await useRecoveryCode(tx, user.id, hashOf(code)))) return false
    const count = await countRecoveryCodes(tx, user.id)
    await noteChange(parts, tx, user, {
      action: 'factor.recover',
      text: `A recovery code was used to sign in to ${user.realm} as ${user.email}. ${String(count)} are left.`,
    })
    return true
  })
  if (isUsed) parts.wake.notify('send-mails')
  return isUsed
}

/** `at`: when the password was right, in seconds. `factor`: the version of the user's factor then, null for none. */
export type SignInStart = { at: number; factor: string | null }

/**
 * `changed`: with the factor's new version, and the recovery codes if they are new. `rejected`: by what was sent.
 * `ended`: the sign-in no longer counts.
 */
export type ChangeResult =
  | { outcome: 'changed'; factor: string; recoveryCodes?: readonly string[] }
  | { outcome: 'rejected' | 'ended' }

/** Sets up the user's authenticator app, once a first code shows that it has the secret; it replaces an earlier one. */
export async function setUpApp(
  parts: EmbeddedParts,
  user: UserRecord,
  { secret, code, ...start }: SignInStart & { secret: Buffer; code: string },
): Promise<ChangeResult> {
  const step = matchingStep(secret, code.replaceAll(/\s/g, ''), Date.now())
  if (step === undefined) return { outcome: 'rejected' }
  const sealed = parts.sealer.seal(secret.toString('base64'), factorContext(user.id))
  return change(parts, user, start, {
    action: 'factor.set_up',
    text: `An authenticator app was set up for signing in to ${user.realm} as ${user.email}.`,
    hasNewCodes: true,
    run: async (tx) => {
      await storeApp(tx, user.id, { secret: sealed, step })
      return true
    },
  })
}

/** Adds a passkey whose signature was checked. It brings recovery codes if it is the first factor. */
export function addPasskey(
  parts: EmbeddedParts,
  user: UserRecord,
  { passkey, ...start }: SignInStart & { passkey: NewPasskey },
): Promise<ChangeResult> {
  return change(parts, user, start, {
    action: 'factor.add_passkey',
    text: `The passkey "${passkey.name}" was added for signing in to ${user.realm} as ${user.email}.`,
    hasNewCodes: start.factor === null,
    run: (tx) => insertPasskey(tx, user.id, passkey),
  })
}

/** The user's app, or the id of a passkey. */
export type FactorPart = 'app' | { credentialId: string }

/** Removes an app or a passkey, but never the last of them: that another person resets. */
export function removePart(
  parts: EmbeddedParts,
  user: UserRecord,
  { part, ...start }: SignInStart & { part: FactorPart },
): Promise<ChangeResult> {
  const what = part === 'app' ? 'The authenticator app' : 'A passkey'
  return change(parts, user, start, {
    action: part === 'app' ? 'factor.remove_app' : 'factor.remove_passkey',
    text: `${what} was removed for signing in to ${user.realm} as ${user.email}.`,
    run: async (tx) => {
      const count = (await listPasskeys(tx, user.id)).length + ((await hasApp(tx, user.id)) ? 1 : 0)
      if (count < 2) return false
      if (part !== 'app') return deletePasskey(tx, { userId: user.id, ...part })
      await storeApp(tx, user.id, null)
      return true
    },
  })
}

/** Makes new recovery codes. The earlier ones work no more. */
export function renewCodes(parts: EmbeddedParts, user: UserRecord, start: SignInStart): Promise<ChangeResult> {
  return change(parts, user, start, {
    action: 'factor.renew_codes',
    text: `New recovery codes were made for signing in to ${user.realm} as ${user.email}.`,
    hasNewCodes: true,
    run: () => Promise.resolve(true),
  })
}

type Change = {
  action: string
  text: string
  hasNewCodes?: boolean
  /** @returns false to change nothing */
  run(tx: CommonQueryMethods): Promise<boolean>
}

/**
 * Changes the user's factor. A sign-in ends if since its password the factor was changed by another one, the user was
 * disabled, or all its sessions were ended: otherwise who knew an old password could still replace the factor.
 */
async function change(
  parts: EmbeddedParts,
  user: UserRecord,
  { at, factor: known }: SignInStart,
  { action, text, hasNewCodes = false, run }: Change,
): Promise<ChangeResult> {
  const codes = hasNewCodes ? makeRecoveryCodes() : undefined
  const result = await parts.pool.transaction(async (tx): Promise<ChangeResult> => {
    const current = await lockUser(tx, user.realm, user.id)
    if (current === null || !isSignInValid(current, at) || (await factorOf(tx, user.id)) !== known) {
      return { outcome: 'ended' }
    }
    if (known === null) await touchFactor(tx, user.id)
    if (!(await run(tx))) {
      if (known === null) await deleteFactor(tx, user.id)
      return { outcome: 'rejected' }
    }
    const factor = await touchFactor(tx, user.id)
    if (codes !== undefined) await replaceRecoveryCodes(tx, user.id, codes.map(hashOf))
    await noteChange(parts, tx, user, { action, text })
    return { outcome: 'changed', factor }
  })
  if (result.outcome !== 'changed') return result
  parts.wake.notify('send-mails')
  if (codes === undefined) return result
  return { ...result, recoveryCodes: codes.map((code) => (code.match(/.{4}/g) ?? []).join('-')) }
}

function makeRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => base32(randomBytes(RECOVERY_BYTES)))
}

/**
 * Deletes the user's second factor and ends its sessions. Does nothing if there is no factor, or no such user: anybody can
 * register a merchant, invite a stranger, and have a mail sent to it by each reset.
 */
export async function resetFactor(
  parts: EmbeddedParts,
  { slug, userId }: { slug: string; userId: string },
): Promise<void> {
  if (!isUuid(userId)) return
  const isReset = await parts.pool.transaction(async (tx) => {
    const user = await lockUser(tx, slug, userId)
    if (user === null || !(await deleteFactor(tx, user.id))) return false
    await endSessions(tx, slug, user.subject)
    await mailChange(
      parts,
      tx,
      user,
      `The second factor for signing in to ${slug} as ${user.email} was removed, with all passkeys. All sessions have ended, and the next sign-in may ask for a new one.`,
    )
    return true
  })
  if (isReset) parts.wake.notify('send-mails')
}

/** The person is the actor; who resets another's factor is recorded by the caller of `resetFactor`. */
async function noteChange(
  parts: EmbeddedParts,
  tx: CommonQueryMethods,
  user: UserRecord,
  { action, text }: { action: string; text: string },
): Promise<void> {
  const { realm, email, subject, roles } = user
  const actor = { id: subject, name: email, role: roles[0] ?? 'NONE' }
  await recordAction(parts, tx, { actor, action, merchantId: null, subjectId: user.id, after: { realm } })
  await mailChange(parts, tx, user, text)
}

async function mailChange(parts: EmbeddedParts, tx: CommonQueryMethods, user: UserRecord, text: string): Promise<void> {
  await queueMail(parts, tx, {
    merchantId: null,
    realm: user.realm,
    kind: 'factor',
    recipient: user.email,
    subject: `Your second factor for ${user.realm}`,
    body: `${text}\n\nIf this was not you, change your password at once and tell an administrator of ${user.realm}.\n`,
  })
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('hex')
}
