import type { App } from '../app.ts'
import { isUuid } from '../lib/ids.ts'
import { findMerchantRow, updateActive } from './admin-sql.ts'
import { changeMerchant, merchantNotFound } from './change-merchant.ts'
import type { MerchantAction } from './change-merchant.ts'
import type { MerchantRecord } from './record.ts'

/**
 * Disables a merchant, whose realm then signs nobody in, or enables it again (decision 26). The realm is changed first
 * and every time: repeating the request heals one that a crash left different from the merchant.
 * @throws {DomainError} MERCHANT_NOT_FOUND
 * @throws {IdentityUnavailableError}
 */
export async function setActive(
  app: Pick<App, 'pool' | 'ids' | 'identity'>,
  { isActive, ...action }: MerchantAction & { isActive: boolean },
): Promise<MerchantRecord> {
  const known = isUuid(action.id) ? await findMerchantRow(app.pool, action.id) : null
  if (known === null) throw merchantNotFound()
  const { realm_slug: realm } = known
  if (realm !== null) await app.identity.setRealmEnabled(realm, isActive)
  return changeMerchant(app, action, {
    action: 'merchant.active',
    members: ['is_active'],
    plan: (merchant) =>
      merchant.is_active === isActive ? undefined : (tx) => updateActive(tx, { id: action.id, isActive }),
  })
}
