import type { Actor } from '../audit/record.ts'
import type { VerifiedCheckout } from '../checkout/record.ts'
import { ofEveryMerchant, ofMerchant, ofNoMerchant } from '../db/merchant-scope.ts'
import type { PayerSessionRecord } from '../payers/record.ts'
import type { MerchantActingRole, PlatformRole, Role } from '../lib/permissions.ts'

/** The details of a credential that `whoami` returns. */
export type Proof = {
  /** Null without an identity provider. */
  realm: string | null
  clientId: string | null
  /** ISO 8601; null where the credential does not expire. */
  expiresAt: string | null
  /** All roles of the caller; a principal's `role` is the one that allowed the operation. */
  roles: readonly Role[]
}

export type MerchantPrincipal = {
  kind: 'merchant'
  merchantId: string
  tradingName: string
  kybStatus: 'PENDING' | 'APPROVED' | 'SUSPENDED'
  /** False once operators have disabled it; what it may still do is in contract §Disabled merchants. */
  isActive: boolean
  role: MerchantActingRole
  actor: Actor
  proof: Proof
}

/** An operator of the platform: a person of its staff, or a client of its automation. */
export type PlatformPrincipal = { kind: 'platform'; role: PlatformRole; actor: Actor; proof: Proof }

/** A customer of the bank, on Surface A (decision 9). */
export type CustomerPrincipal = {
  kind: 'customer'
  /** The customer's row; `NO_CUSTOMER`, which owns nothing, for a person who is not a customer of the bank. */
  customerId: string
  /** The client that acts for the customer; `''` without an identity provider. */
  clientId: string
}

export type CheckoutPrincipal = { kind: 'checkout-token'; merchantId: string; checkout: VerifiedCheckout }

export type PayerPrincipal = { kind: 'payer'; session: PayerSessionRecord }

/** The authenticated caller. Handlers see nothing else of the credential, so a new kind of credential changes no handler. */
export type Principal =
  | MerchantPrincipal
  | PlatformPrincipal
  /** The payer's browser, by the `state` of one payment. */
  | { kind: 'payment-state'; merchantId: string; paymentId: string }
  /** The payer's browser before there is a payment, by the checkout token of the merchant's server. */
  | CheckoutPrincipal
  /** The payer in the hub, by a session for an e-mail address or phone number. */
  | PayerPrincipal
  | CustomerPrincipal
  /** Any caller: the operation needs no credential, or has its own in the body or signature. */
  | { kind: 'anyone' }

/** The merchant whose data an operation may touch. */
export function merchantIdOf(principal: Principal): string {
  const { kind } = principal
  if (kind === 'merchant' || kind === 'payment-state' || kind === 'checkout-token') return principal.merchantId
  throw new Error('the operation has no merchant')
}

/** Runs the caller's work with the rows that the caller may see, whatever its statements say (decision 360). */
export function withRowsOf<T>(principal: Principal, work: () => T): T {
  switch (principal.kind) {
    case 'merchant':
    case 'payment-state':
    case 'checkout-token':
      return ofMerchant(principal.merchantId, work)
    case 'customer':
      return ofNoMerchant(work)
    // A payer's payments are of many merchants. Callers without a credential have it in what they send, and in the row.
    case 'platform':
    case 'payer':
    case 'anyone':
      return ofEveryMerchant(work)
  }
}

/** The merchant's person or program, as its records name them. */
export function merchantOf(principal: Principal): MerchantPrincipal {
  if (principal.kind === 'merchant') return principal
  throw new Error('the operation is not for merchants')
}

/** The checkout of the browser's token. */
export function checkoutOf(principal: Principal): VerifiedCheckout {
  if (principal.kind === 'checkout-token') return principal.checkout
  throw new Error('the operation is not for checkout tokens')
}

/** The payer's session in the hub. */
export function payerOf(principal: Principal): PayerSessionRecord {
  if (principal.kind === 'payer') return principal.session
  throw new Error('the operation is not for payers')
}

/** The customer whose accounts and orders an operation may touch. */
export function customerOf(principal: Principal): CustomerPrincipal {
  if (principal.kind === 'customer') return principal
  throw new Error('the operation is not for customers')
}

/** The operator, with the name for the audit trail. */
export function operatorOf(principal: Principal): PlatformPrincipal {
  if (principal.kind === 'platform') return principal
  throw new Error('the operation is not for operators')
}

/** The caller, of either realm. */
export function callerOf(principal: Principal): MerchantPrincipal | PlatformPrincipal {
  if (principal.kind === 'merchant' || principal.kind === 'platform') return principal
  throw new Error('the operation requires no caller')
}
