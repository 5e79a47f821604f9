import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** A merchant's checkout settings. */
export const CheckoutSettings = z.object({
  /** JSON as stored; null if never set. */
  branding_config: z.unknown(),
  checkout_origins: z.array(z.string()),
})
export type CheckoutSettings = z.infer<typeof CheckoutSettings>

const columns = sql.fragment`branding_config, checkout_origins`

export function findSettings(tx: CommonQueryMethods, merchantId: string): Promise<CheckoutSettings> {
  return tx.one(sql.type(CheckoutSettings)`select ${columns} from merchants where id = ${merchantId}`)
}

/** The settings, locked against other changes until the transaction ends; payments can still be created. */
export function lockSettings(tx: CommonQueryMethods, merchantId: string): Promise<CheckoutSettings> {
  return tx.one(sql.type(CheckoutSettings)`
    select ${columns} from merchants where id = ${merchantId} for no key update
  `)
}

/** @param branding JSON text */
export async function updateBranding(
  tx: CommonQueryMethods,
  { merchantId, branding }: { merchantId: string; branding: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update merchants set branding_config = ${branding}::json, updated_at = now() where id = ${merchantId}
  `)
}

export async function updateOrigins(
  tx: CommonQueryMethods,
  { merchantId, origins }: { merchantId: string; origins: readonly string[] },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update merchants
    set checkout_origins = ${sql.array([...origins], 'text')}, updated_at = now()
    where id = ${merchantId}
  `)
}

/** @param fees numeric text: a percentage of (5,4) and a flat fee of (10,2) */
export async function updateFees(
  tx: CommonQueryMethods,
  { id, percentage, flat }: { id: string; percentage: string; flat: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update merchants
    set fee_percentage = ${percentage}::numeric, fee_flat = ${flat}::numeric, updated_at = now()
    where id = ${id}
  `)
}

/** @param input the currencies in their order, and the largest payment as numeric text */
export async function updateLimits(
  tx: CommonQueryMethods,
  { id, currencies, max }: { id: string; currencies: readonly string[]; max: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update merchants
    set currencies = ${sql.array([...currencies], 'text')}, payment_amount_max = ${max}::numeric, updated_at = now()
    where id = ${id}
  `)
}

const PaymentLimits = z.object({ currencies: z.array(z.string()), payment_amount_max: z.string() })

/** What `create_payments` measured a rejected payment by. */
export function findPaymentLimits(tx: CommonQueryMethods, id: string): Promise<z.infer<typeof PaymentLimits>> {
  return tx.one(sql.prepared('find_payment_limits', PaymentLimits)`
    select currencies, money_text(payment_amount_max) as payment_amount_max from merchants where id = ${id}
  `)
}
