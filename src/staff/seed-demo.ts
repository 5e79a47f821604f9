import type { App } from '../app.ts'
import { admitUser } from '../identity/admit-user.ts'
import { ClientExistsError } from '../identity/provider.ts'
import { deriveKey } from '../lib/derive.ts'
import { PLATFORM_REALM, credentialIdOf } from '../lib/realms.ts'
import { insertStaffClient, reviveStaffClient } from './clients-sql.ts'
import { ensurePlatform } from './ensure-platform.ts'
import { findPlatformUser } from './sql.ts'
import { findStaffByEmail, insertStaff } from './staff-sql.ts'

export type DemoOperator = {
  realm: string
  client_id: string
  client_secret: string
  role: 'OWNER'
  email: string
  password: string
}

type DemoApp = Pick<App, 'pool' | 'ids' | 'identity' | 'config' | 'publicUrl'>

const EMAIL = 'owner@svc.example'
const DISPLAY_NAME = 'Demo Owner'
const ROLE = 'OWNER'

/**
 * Makes sure that the sandbox has an operator to try things with: a person and a service client, both OWNER. Their
 * secrets come from the master key, so every process and every repetition knows the same ones, and no two installations
 * do.
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
  try {
    await identity.createServiceClient(PLATFORM_REALM, { clientId, secret, roles: [ROLE] })
  } catch (error) {
    if (!(error instanceof ClientExistsError)) throw error
    await identity.rotateServiceSecret(PLATFORM_REALM, clientId, secret)
  }
}

async function ensurePerson(app: DemoApp, password: string): Promise<void> {
  const { pool, identity } = app
  const known = await findStaffByEmail(pool, EMAIL)
  const userId =
    known?.keycloak_user_id ??
    (await admitUser(identity, {
      realm: PLATFORM_REALM,
      email: EMAIL,
      displayName: DISPLAY_NAME,
      isRemoved: async (found) => (await findPlatformUser(pool, found))?.is_active === false,
    }))
  if (known === null) {
    await insertStaff(pool, { id: app.ids.uuid(), userId, email: EMAIL, displayName: DISPLAY_NAME, role: ROLE })
  }
  await identity.setUserRoles(PLATFORM_REALM, userId, [known?.role ?? ROLE])
  // A password that its owner has changed since is left alone.
  if (!(await identity.hasPassword(PLATFORM_REALM, userId))) {
    await identity.setPassword(PLATFORM_REALM, userId, password)
  }
}
