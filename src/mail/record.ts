import { z } from 'zod'

/** A mail of the outbox without its body, which is sealed (migrations/0010_mails.sql). */
export const MailRecord = z.object({
  id: z.string(),
  kind: z.string(),
  recipient: z.string(),
  subject: z.string(),
  status: z.enum(['PENDING', 'SENT', 'KEPT', 'DEAD']),
  attempt_count: z.int(),
  last_error: z.string().nullable(),
  sent_at: z.string().nullable(),
  created_at: z.string(),
})
export type MailRecord = z.infer<typeof MailRecord>

/** The same as it is stored: its recipient is sealed. */
export const MailRow = MailRecord.extend({ merchant_id: z.string().nullable(), realm: z.string() })
export type MailRow = z.infer<typeof MailRow>

/** A mail with its sealed body; null after sending in live mode, because its links give access. */
export const SealedMail = MailRow.extend({ body: z.string().nullable() })
export type SealedMail = z.infer<typeof SealedMail>

/** A mail leased by this worker. Its `attempt_count` counts the claims, and so serves as the fencing token. */
export const ClaimedMail = z.object({
  id: z.string(),
  merchant_id: z.string().nullable(),
  kind: z.string(),
  channel: z.enum(['EMAIL', 'SMS']),
  /** Sealed. */
  recipient: z.string(),
  subject: z.string(),
  body: z.string().nullable(),
  attempt_count: z.int(),
  /** Whether it is too late to be useful, such as an expired link. */
  is_useless: z.boolean(),
})
export type ClaimedMail = z.infer<typeof ClaimedMail>
