import { setTimeout as delay } from 'node:timers/promises'
import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { findLastAction } from '../audit/sql.ts'
import { recordAction } from '../audit/record-action.ts'
import { ensureUser } from '../identity/ensure-user.ts'
import { setClientSecret } from '../identity/service-clients.ts'
import { RealmExistsError } from '../identity/provider.ts'
import type { CreatedRealm } from '../identity/provider.ts'
import { deriveKey } from '../lib/derive-key.ts'
import { clientIdsOf } from '../lib/realms.ts'
import { findMerchantByClientId, insertMerchant, insertMissingClients } from '../merchants/sql.ts'
import { generateWebhookSecret, openWebhookSecret, webhookSecretContext } from '../signing/secret.ts'
import { merchantRealm } from '../registrations/realm-spec.ts'
import { isPasswordSeeded } from './seeded-password.ts'
import { deactivateOtherAdmins, moveDemoEndpoint, putDemoAdmin, restoreDemoClient, setDemoRealm } from './seed-sql.ts'

export type DemoMerchant = {
  id: string
  client_id: string
  /** Null without an identity provider, like `email` and `password`: there is nothing to sign in to. */
  client_secret: string | null
  realm: string
  webhook_secret: string
  /** The administrator's, for the login page. */
  email: string | null
  password: string | null
}

const SLUG = 'demo'
const CLIENT_ID = clientIdsOf(SLUG).server
const NAMES = { legalName: 'Demo Shop Ltd', tradingName: 'Demo Shop' }
const EMAIL = 'admin@demo.example'

/** Every process creates the realm under this registration id, so that remains of a crash can be deleted. */
const REGISTRATION_ID = '00000000-0000-7000-8000-00000000de30'

/** The fees in the documentation: 1 % and 0.20 (decision 46). */
const FEES = { feePercentage: '0.0100', feeFlat: '0.20' }

const ACTOR = { id: 'svc up', name: 'svc up', role: 'NONE' }

/** How often, and at which interval in milliseconds, to wait for another process that creates the same merchant. */
const ROUNDS_MAX = 30
const ROUND_MS = 100

/**
 * Ensures that the sandbox has an approved merchant with a realm, whose webhooks go to the service's own demo receiver.
 * Repeating it keeps the merchant; its secrets are derived from the master key, so they are the same every time. A
 * merchant of a database from before realms gets one.
 */
export async function ensureDemoMerchant(app: App): Promise<DemoMerchant> {
  for (let round = 0; ; round += 1) {
    const hasRealm = await app.identity.realmExists(SLUG)
    const known = await findMerchantByClientId(app.pool, CLIENT_ID)
    if (known !== null && (hasRealm || app.identity.kind === 'none')) return settle(app, known.id)
    if (!hasRealm && (await makeDemo(app, known?.id))) continue
    if (round >= ROUNDS_MAX) await clearLeftovers(app)
    await delay(ROUND_MS)
  }
}

/** False when another process on the same database has just created it. */
async function makeDemo(app: App, knownId: string | undefined): Promise<boolean> {
  const id = knownId ?? app.ids.for('demo merchant').uuid()
  const webhookSecret = app.sealer.seal(generateWebhookSecret(), webhookSecretContext(id))
  const realm = merchantRealm(app, {
    slug: SLUG,
    displayName: NAMES.tradingName,
    registrationId: REGISTRATION_ID,
    secret: derived(app, 'client secret'),
    serverRole: 'ADMIN',
    admin: { email: EMAIL },
  })
  const write = (db: CommonQueryMethods, made: CreatedRealm): Promise<void> =>
    knownId === undefined ? writeDemo(app, db, { id, webhookSecret, made }) : adopt(app, db, { id, made })
  try {
    await app.identity.createRealm(realm, (made, db) =>
      db === undefined ? app.pool.transaction((tx) => write(tx, made)) : write(db, made),
    )
    return true
  } catch (error) {
    if (error instanceof RealmExistsError || error instanceof TakenError) return false
    // If another process has created it in the meantime, the realm belongs to that one.
    if ((await findMerchantByClientId(app.pool, CLIENT_ID)) === null) {
      await app.identity.deleteRealm(SLUG, REGISTRATION_ID)
    }
    throw error
  }
}

class TakenError extends Error {
  override readonly name = 'TakenError'
}

type New = { id: string; webhookSecret: string; made: CreatedRealm }

async function writeDemo(app: App, db: CommonQueryMethods, { id, webhookSecret, made }: New): Promise<void> {
  const isNew = await insertMerchant(db, {
    id,
    clientId: CLIENT_ID,
    ...NAMES,
    ...FEES,
    kybStatus: 'APPROVED',
    webhookUrl: receiverOf(app, id),
    realmSlug: SLUG,
    serverRole: 'ADMIN',
    createdBy: ACTOR.name,
    webhookSigningSecret: webhookSecret,
  })
  if (!isNew) throw new TakenError('another process has created the demo merchant')
  await writeAdmin(db, { id, made })
  await record(app, db, id)
}

/** Records the new realm of an existing merchant. */
async function adopt(app: App, db: CommonQueryMethods, { id, made }: Omit<New, 'webhookSecret'>): Promise<void> {
  await setDemoRealm(db, { merchantId: id, slug: SLUG })
  await insertMissingClients(db, { merchantId: id, slug: SLUG, serverRole: 'ADMIN', createdBy: ACTOR.name })
  await writeAdmin(db, { id, made })
  await record(app, db, id)
}

async function replaceDemoAdmin(
  tx: CommonQueryMethods,
  { merchantId, userId }: { merchantId: string; userId: string },
): Promise<void> {
  await deactivateOtherAdmins(tx, { merchantId, userId, email: EMAIL })
  await putDemoAdmin(tx, { merchantId, userId, email: EMAIL, invitedBy: ACTOR.name })
}

async function writeAdmin(db: CommonQueryMethods, { id, made }: Omit<New, 'webhookSecret'>): Promise<void> {
  if (made.adminUserId === null) return
  await replaceDemoAdmin(db, { merchantId: id, userId: made.adminUserId })
}

function record(app: App, db: CommonQueryMethods, id: string): Promise<void> {
  const after = { realm_slug: SLUG, kyb_status: 'APPROVED' }
  return recordAction(app, db, { actor: ACTOR, action: 'merchant.seed', merchantId: id, subjectId: id, after })
}

/** Sets the merchant's endpoint and credentials to those that `svc up` prints. */
async function settle(app: App, id: string): Promise<DemoMerchant> {
  await moveDemoEndpoint(app.pool, { merchantId: id, url: receiverOf(app, id) })
  const merchant = { id, client_id: CLIENT_ID, realm: SLUG, webhook_secret: await openWebhookSecret(app, id) }
  if (app.identity.kind === 'none') return { ...merchant, client_secret: null, email: null, password: null }
  const secret = derived(app, 'client secret')
  const password = derived(app, 'admin password').slice(0, 20)
  await setSecret(app, secret)
  const userId = (await app.identity.findUser(SLUG, EMAIL)) ?? (await makeAdmin(app, id))
  await setPasswordOnce(app, { id, userId, password })
  return { ...merchant, client_secret: secret, email: EMAIL, password }
}

/** Resets the client's secret and restores the client, even if it was rotated or revoked. */
async function setSecret(app: App, secret: string): Promise<void> {
  await setClientSecret(app.identity, SLUG, { clientId: CLIENT_ID, secret, roles: ['ADMIN'] })
  await restoreDemoClient(app.pool, CLIENT_ID)
}

/** Only once for each user and master key, according to the audit trail, because a new password ends every session. */
async function setPasswordOnce(
  app: App,
  { id, userId, password }: { id: string; userId: string; password: string },
): Promise<void> {
  const action = 'merchant.seed_password'
  const last = await findLastAction(app.pool, { merchantId: id, action })
  if (isPasswordSeeded(app, last, userId)) return
  await app.identity.setPassword(SLUG, userId, password)
  const after = { key_id: app.sealer.kid }
  await recordAction(app, app.pool, { actor: ACTOR, action, merchantId: id, subjectId: userId, after })
}

/** Restores the administrator after a removal from the team. */
async function makeAdmin(app: App, merchantId: string): Promise<string> {
  const userId = await ensureUser(app.identity, { realm: SLUG, email: EMAIL, isRemoved: () => Promise.resolve(false) })
  await replaceDemoAdmin(app.pool, { merchantId, userId })
  await app.identity.setUserRoles(SLUG, userId, ['ADMIN'])
  return userId
}

/** Deletes a realm without a merchant, left by a crashed process. */
async function clearLeftovers(app: App): Promise<void> {
  if (await app.identity.deleteRealm(SLUG, REGISTRATION_ID)) return
  throw new Error(`the identity provider has a realm ${SLUG} that is not the demo merchant's`)
}

function derived(app: App, what: string): string {
  return deriveKey(app.config.encryptionKey, `demo merchant ${what}`).toString('base64url')
}

function receiverOf(app: App, id: string): string {
  return `${app.publicUrl}/dev/webhook-receiver/${id}`
}
