import { z } from 'zod'

/** A mail of the outbox without its body, which is sealed (migrations/0008_mails.sql). */
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

/** A mail with its sealed body; null once it was sent in live mode, for its links open doors. */
export const SealedMail = MailRecord.extend({
  merchant_id: z.string().nullable(),
  realm: z.string(),
  body: z.string().nullable(),
})
export type SealedMail = z.infer<typeof SealedMail>

/** A mail that this worker sends. Its `attempt_count` counts the claims, and so tells one holder from the next. */
export const ClaimedMail = z.object({
  id: z.string(),
  merchant_id: z.string().nullable(),
  channel: z.enum(['EMAIL', 'SMS']),
  recipient: z.string(),
  subject: z.string(),
  body: z.string().nullable(),
  attempt_count: z.int(),
  /** Whether it comes too late to be of any use, as a link that has ended. */
  is_useless: z.boolean(),
})
export type ClaimedMail = z.infer<typeof ClaimedMail>
