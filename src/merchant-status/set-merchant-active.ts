import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { findMerchantRow, updateActive } from '../merchants/admin-sql.ts'
import type { MerchantAction } from '../merchants/change-merchant.ts'
import type { MerchantRecord } from '../merchants/record.ts'
import { changeStatus } from './change-status.ts'
import type { StatusApp } from './change-status.ts'

/** More concurrent changes of one merchant than happen in practice. */
const ATTEMPTS_MAX = 200

/**
 * Disables a merchant, so that its realm allows no sign-in and its tokens can't change anything (http/guards.ts), or
 * enables it again (decision 26). The merchant's row is changed first and the realm follows: repeating the request
 * repairs a realm that was not updated because of a crash or a provider outage.
 * @throws {DomainError} MERCHANT_NOT_FOUND, CHANGED_MEANWHILE
 * @throws {IdentityUnavailableError} the merchant is changed, its realm is not yet
 */
export async function setMerchantActive(
  app: StatusApp & Pick<App, 'identity'>,
  { isActive, ...action }: MerchantAction & { isActive: boolean },
): Promise<MerchantRecord> {
  const changed = await changeStatus(app, action, {
    action: 'merchant.active',
    members: ['is_active'],
    stopsPayouts: !isActive,
    plan: (merchant) =>
      merchant.is_active === isActive ? undefined : (tx) => updateActive(tx, { id: action.id, isActive }),
  })
  await syncRealm(app, changed)
  return changed
}

/**
 * Sets the realm to the state of the row and reads the row again, so that of two concurrent changes the later one ends
 * up in both places.
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
  throw new DomainError('SERVICE_UNAVAILABLE', 'the merchant keeps changing concurrently; repeat the request', {
    retryAfterSeconds: 1,
  })
}
