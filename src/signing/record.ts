import { z } from 'zod'

/** A merchant's signing secrets as they are stored: sealed, each bound to its own column. */
export const SealedSecrets = z.strictObject({
  merchant_id: z.uuid(),
  webhook_signing_secret: z.string(),
  /** The secret before the last rotation, while it signs as well; null outside an overlap. */
  webhook_secret_previous: z.string().nullable(),
})
export type SealedSecrets = z.infer<typeof SealedSecrets>

/** When the secret was rotated, and until when the previous one signs as well; null after the overlap. */
export const SecretTimes = z.strictObject({
  rotated_at: z.iso.datetime().nullable(),
  previous_expires_at: z.iso.datetime().nullable(),
})
export type SecretTimes = z.infer<typeof SecretTimes>

/** Both, as they are read together. */
export const SecretState = SealedSecrets.extend(SecretTimes.shape)
export type SecretState = z.infer<typeof SecretState>
