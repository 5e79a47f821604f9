import type { App } from '../app.ts'
import { issuerOf } from '../lib/realms.ts'
import type { RegisterMerchant, RegisteredMerchant } from '../wire/registration.ts'
import { claimSlug, usableSlug } from './claim-slug.ts'
import { provision } from './provision.ts'

export type RegisterInput = RegisterMerchant & {
  /** The caller's address, which the registration limit counts. */
  clientAddress: string
}

/**
 * Registers a merchant: claims its name, then creates its realm, clients, administrator and records, all or nothing; an
 * operator approves it (contract §Merchant portal; decisions 25, 46 and 47). A job sends the invitation, because a mail
 * failure must not fail the registration.
 * @throws {DomainError} VALIDATION_FAILED, REALM_EXISTS, RATE_LIMITED
 * @throws {IdentityUnavailableError}
 */
export async function registerMerchant(app: App, input: RegisterInput): Promise<RegisteredMerchant> {
  const claimed = {
    id: app.ids.uuid(),
    slug: usableSlug(input.company_name),
    companyName: input.company_name,
    tradingName: input.trading_name,
    adminEmail: input.admin_email,
  }
  await claimSlug(app, { ...claimed, clientAddress: input.clientAddress })
  const made = await provision(app, claimed)
  app.wake.notify('invite-admins')
  const { authUrl } = app.identity
  return {
    merchant_id: made.merchantId,
    client_id: made.clientId,
    client_secret: authUrl === null ? null : made.clientSecret,
    realm_slug: claimed.slug,
    kyb_status: 'PENDING',
    issuer: authUrl === null ? null : issuerOf(authUrl, claimed.slug),
    webhook_signing_secret: made.webhookSecret,
    warnings: made.warnings,
  }
}
