import type { App } from '../app.ts'
import { issuerOf } from '../lib/realms.ts'
import type { RegisterMerchant, RegisteredMerchant } from '../wire/registration.ts'
import { claimSlug, usableSlug } from './claim-slug.ts'
import { provision } from './provision.ts'

export type RegisterInput = RegisterMerchant & {
  /** Where the request came from; registrations are counted by it. */
  clientAddress: string
}

/**
 * Registers a merchant: its name is taken, then its realm, clients, administrator and records are made, all or nothing;
 * an operator approves it (contract §Merchant portal; decisions 25, 46 and 47). The invitation goes out by a job,
 * for a mail that can't be sent is no reason to refuse a merchant.
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
