import { z } from 'zod'
import { IdParams, NoBody, NoHeaders, None, Timestamp, Uuid, listOf } from './common.ts'
import { operation } from './operation.ts'

/** Mail that the sandbox keeps instead of sending (decision 134). */
export const Mail = z.strictObject({
  id: Uuid,
  kind: z.string(),
  recipient: z.string(),
  subject: z.string(),
  status: z.enum(['PENDING', 'SENT', 'KEPT', 'DEAD']),
  attempt_count: z.int(),
  last_error: z.string().nullable(),
  sent_at: Timestamp.nullable(),
  created_at: Timestamp,
})
export type Mail = z.infer<typeof Mail>

export const listMails = operation({
  name: 'listMails',
  method: 'GET',
  path: '/api/v1/sandbox/mails',
  summary: 'List the last 50 mails of the outbox',
  access: ['sandbox'],
  permission: 'operate sandbox',
  params: None,
  query: z.strictObject({ recipient: z.string().max(254).optional() }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(Mail) },
  errors: [],
})

export const getMail = operation({
  name: 'getMail',
  method: 'GET',
  path: '/api/v1/sandbox/mails/{id}',
  summary: 'Get a mail of the outbox with its links',
  access: ['sandbox'],
  permission: 'operate sandbox',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: Mail.extend({ body: z.string(), links: z.array(z.string()) }) },
  errors: ['MAIL_NOT_FOUND'],
})
