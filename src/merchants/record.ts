import { z } from 'zod'

/** Who a merchant is: what a request's credential is resolved to. */
export const MerchantIdentity = z.object({ id: z.string(), client_id: z.string(), trading_name: z.string() })
export type MerchantIdentity = z.infer<typeof MerchantIdentity>

/** A merchant's endpoint and its sealed signing secret. */
export const MerchantWebhookSecret = z.object({ id: z.string(), webhook_signing_secret: z.string() })
export type MerchantWebhookSecret = z.infer<typeof MerchantWebhookSecret>
