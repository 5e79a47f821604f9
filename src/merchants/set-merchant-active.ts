import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { findMerchantRow, updateActive } from './admin-sql.ts'
import { changeMerchant } from './change-merchant.ts'
import type { MerchantAction } from './change-merchant.ts'
import type { MerchantRecord } from './record.ts'

/** More changes of one merchant at a time than operators make. */
const ATTEMPTS_MAX = 200

/**
 * Disables a merchant, whose realm then signs nobody in and whose tokens change nothing (http/guards.ts), or enables it
 * again (decision 26). The merchant's own row goes first and the realm follows it: repeating the request heals a realm
 * that a crash, or a provider that did not answer, left behind.
 * @throws {DomainError} MERCHANT_NOT_FOUND, CHANGED_MEANWHILE
 * @throws {IdentityUnavailableError} the merchant is changed, its realm is not yet
 */
export async function setMerchantActive(
  app: Pick<App, 'pool' | 'ids' | 'identity'>,
  { isActive, ...action }: MerchantAction & { isActive: boolean },
): Promise<MerchantRecord> {
  const changed = await changeMerchant(app, action, {
    action: 'merchant.active',
    members: ['is_active'],
    plan: (merchant) =>
      merchant.is_active === isActive ? undefined : (tx) => updateActive(tx, { id: action.id, isActive }),
  })
  await syncRealm(app, changed)
  return changed
}

/**
 * Lets the realm be as the row is, and looks again: whoever sets the realm last has then seen the row agree with it, so
 * of two changes at once the later one stands in both places.
 */
async function syncRealm(
  app: Pick<App, 'pool' | 'identity'>,
  { id, realm_slug: realm, is_active: isActive }: MerchantRecord,
): Promise<void> {
  if (realm === null) return
  let wanted = isActive
  for (let round = 0; round < ATTEMPTS_MAX; round += 1) {
    await app.identity.setRealmEnabled(realm, wanted)
    const now = (await findMerchantRow(app.pool, id))?.is_active
    if (now === undefined || now === wanted) return
    wanted = now
  }
  throw new DomainError(
    'SERVICE_UNAVAILABLE',
    'the merchant is changed again and again meanwhile; repeat the request',
    {
      retryAfterSeconds: 1,
    },
  )
}
