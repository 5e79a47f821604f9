import type { Actor } from '../audit/record.ts'
import type { VerifiedCheckout } from '../checkout/record.ts'
import type { PayerSessionRecord } from '../payers/record.ts'
import type { MerchantActingRole, PlatformRole, Role } from '../lib/permissions.ts'

/** What a credential said beyond who it belongs to, for telling the caller (`whoami`). */
export type Proof = {
  /** Null without an identity provider. */
  realm: string | null
  clientId: string | null
  /** ISO 8601; null where the credential does not end. */
  expiresAt: string | null
  /** Everything that the caller may act as; a principal's `role` is the one of them that an operation was allowed to. */
  roles: readonly Role[]
}

export type MerchantPrincipal = {
  kind: 'merchant'
  merchantId: string
  tradingName: string
  kybStatus: 'PENDING' | 'APPROVED' | 'SUSPENDED'
  /** Whether operators let it work; a disabled one may still look, and refund (http/guards.ts). */
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
  /** The customer's row; `NO_CUSTOMER`, which has nothing, for a person whom the bank does not know. */
  customerId: string
  /** What the program is that acts for the customer; `''` without an identity provider. */
  clientId: string
}

export type CheckoutPrincipal = { kind: 'checkout-token'; merchantId: string; checkout: VerifiedCheckout }

export type PayerPrincipal = { kind: 'payer'; session: PayerSessionRecord }

/** Who calls, proven. Handlers see nothing else of the credential, so another kind of proof changes no handler. */
export type Principal =
  | MerchantPrincipal
  | PlatformPrincipal
  /** The payer's browser, by the capability of one payment. */
  | { kind: 'payment-state'; merchantId: string; paymentId: string }
  /** The payer's browser before there is a payment, by what the merchant's server gave it. */
  | CheckoutPrincipal
  /** The payer in the hub, by a session of an e-mail address or phone number. */
  | PayerPrincipal
  | CustomerPrincipal
  /** Nobody in particular; the operation's own credential is in its body or signature. */
  | { kind: 'anyone' }

/** The merchant whose data an operation may touch. */
export function merchantIdOf(principal: Principal): string {
  const { kind } = principal
  if (kind === 'merchant' || kind === 'payment-state' || kind === 'checkout-token') return principal.merchantId
  throw new Error('the operation has no merchant')
}

/** Who works for the merchant, as its records name them. */
export function merchantOf(principal: Principal): MerchantPrincipal {
  if (principal.kind === 'merchant') return principal
  throw new Error('the operation is not for merchants')
}

/** What a payer's browser may start a payment with. */
export function checkoutOf(principal: Principal): VerifiedCheckout {
  if (principal.kind === 'checkout-token') return principal.checkout
  throw new Error('the operation is not for checkout tokens')
}

/** The payer's session in the hub. */
export function payerOf(principal: Principal): PayerSessionRecord {
  if (principal.kind === 'payer') return principal.session
  throw new Error('the operation is not for payers')
}

/** The bank's customer, whose accounts and orders an operation may touch. */
export function customerOf(principal: Principal): CustomerPrincipal {
  if (principal.kind === 'customer') return principal
  throw new Error('the operation is not for customers')
}

/** The operator, for what the audit trail has to know. */
export function operatorOf(principal: Principal): PlatformPrincipal {
  if (principal.kind === 'platform') return principal
  throw new Error('the operation is not for operators')
}

/** Whoever calls, of either realm. */
export function callerOf(principal: Principal): MerchantPrincipal | PlatformPrincipal {
  if (principal.kind === 'merchant' || principal.kind === 'platform') return principal
  throw new Error('the operation asks for no caller')
}
