import type { App } from '../app.ts'
import { findLastAction } from '../audit/sql.ts'
import { recordAction } from '../audit/record-action.ts'
import { ensureUser, ensureRecordedUser } from '../identity/ensure-user.ts'
import { setClientSecret } from '../identity/service-clients.ts'
import { deriveKey } from '../lib/derive-key.ts'
import { PLATFORM_REALM, credentialIdOf } from '../lib/realms.ts'
import { insertStaffClient, reviveStaffClient } from '../staff/clients-sql.ts'
import { ensurePlatform } from '../staff/ensure-platform.ts'
import { findPlatformUser, findStaffByEmail, insertStaff, updateStaff } from '../staff/users-sql.ts'
import { hasRotatedMasterKey, isPasswordSeeded } from './seeded-password.ts'

export type DemoOperator = {
  realm: string
  client_id: string
  client_secret: string
  role: 'OWNER'
  email: string
  password: string
}

type DemoApp = Pick<App, 'pool' | 'ids' | 'identity' | 'config' | 'publicUrl' | 'sealer'>

const ACTOR = { id: 'svc up', name: 'svc up', role: 'NONE' }

const EMAIL = 'owner@svc.example'
const DISPLAY_NAME = 'Demo Owner'
const ROLE = 'OWNER'

/**
 * Ensures that the sandbox has a demo operator: a user and a service client, both OWNER. Their secrets are derived from
 * the master key, so that every process and every repetition gets the same ones, different in every installation.
 * @throws in live mode
 */
export async function ensureDemoOperator(app: DemoApp): Promise<DemoOperator> {
  if (app.config.mode !== 'sandbox') throw new Error('the demo operator is for the sandbox alone')
  await ensurePlatform(app)
  const { encryptionKey } = app.config
  const client_id = credentialIdOf(PLATFORM_REALM, 'demo0001')
  const client_secret = deriveKey(encryptionKey, 'demo operator client').toString('base64url')
  const password = deriveKey(encryptionKey, 'demo operator password').toString('base64url').slice(0, 20)
  await ensureClient(app, client_id, client_secret)
  await ensurePerson(app, password)
  return { realm: PLATFORM_REALM, client_id, client_secret, role: ROLE, email: EMAIL, password }
}

async function ensureClient({ pool, identity }: DemoApp, clientId: string, secret: string): Promise<void> {
  await insertStaffClient(pool, { clientId, name: 'demo', role: ROLE, createdBy: 'svc up' })
  await reviveStaffClient(pool, clientId)
  await setClientSecret(identity, PLATFORM_REALM, { clientId, secret, roles: [ROLE] })
}

async function ensurePerson(app: DemoApp, password: string): Promise<void> {
  const { pool, identity } = app
  const known = await findStaffByEmail(pool, EMAIL)
  const user = {
    realm: PLATFORM_REALM,
    email: EMAIL,
    displayName: DISPLAY_NAME,
    isRemoved: async (found: string) => (await findPlatformUser(pool, found))?.is_active === false,
  }
  const userId =
    known === null
      ? await ensureUser(identity, user)
      : await ensureRecordedUser(identity, { ...user, userId: known.keycloak_user_id })
  if (known === null) {
    await insertStaff(pool, { id: app.ids.uuid(), userId, email: EMAIL, displayName: DISPLAY_NAME, role: ROLE })
  } else if (known.keycloak_user_id !== userId) {
    await updateStaff(pool, known.id, { ...known, keycloak_user_id: userId })
  }
  await identity.setUserRoles(PLATFORM_REALM, userId, [known?.role ?? ROLE])
  await setPasswordOnce(app, { userId, password, isNew: known === null })
}

/**
 * A password that its owner has changed is left alone; one that was set for another database, or derived from another
 * master key, is replaced, because it is not the one that we print.
 */
async function setPasswordOnce(
  app: DemoApp,
  { userId, password, isNew }: { userId: string; password: string; isNew: boolean },
): Promise<void> {
  const action = 'staff.seed_password'
  const last = await findLastAction(app.pool, { action })
  const isKnown = isPasswordSeeded(app, last, userId) || (last === null && !isNew && !hasRotatedMasterKey(app))
  if (isKnown && (await app.identity.hasPassword(PLATFORM_REALM, userId))) return
  await app.identity.setPassword(PLATFORM_REALM, userId, password)
  const after = { key_id: app.sealer.kid }
  await recordAction(app, app.pool, { actor: ACTOR, action, merchantId: null, subjectId: userId, after })
}
