import { z } from 'zod'
import { RECEIVER_LANGUAGES } from '../lib/receivers.ts'
import { NoBody, NoHeaders, None, Timestamp } from './common.ts'
import { operation } from './operation.ts'

/** The languages of the sample receivers. */
export const SnippetLanguage = z.enum(RECEIVER_LANGUAGES)
export type SnippetLanguage = z.infer<typeof SnippetLanguage>

/** How long the previous secret also signs after a rotation, by default. */
export const overlapSecondsDefault = 86_400

const masked = z.string().meta({ description: 'the last four characters', examples: ['****9f2c'] })
const overlap = {
  rotated_at: Timestamp.nullable().meta({ description: 'null before the first rotation' }),
  previous_expires_at: Timestamp.nullable().meta({
    description: 'until when webhooks also carry the signature of the previous secret; null outside of an overlap',
  }),
}

/** The signing secret, masked (contract §Merchant portal; decision 25). */
export const WebhookSecret = z.strictObject({
  masked_secret: masked,
  verification_snippet: z.string().meta({ description: 'a complete receiver, to copy' }),
  language: SnippetLanguage,
  ...overlap,
})
export type WebhookSecret = z.infer<typeof WebhookSecret>

export const getWebhookSecret = operation({
  name: 'getWebhookSecret',
  method: 'GET',
  path: '/api/v1/portal/webhook-secret',
  summary: 'Get the masked signing secret and a sample receiver',
  access: ['merchant'],
  permission: 'manage signing secret',
  params: None,
  query: z.strictObject({ language: SnippetLanguage.default('node') }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: WebhookSecret },
  errors: [],
})

export const RotatedSecret = z.strictObject({
  webhook_signing_secret: z.string().meta({ description: 'the new secret; only in this response' }),
  masked_secret: masked,
  ...overlap,
})
export type RotatedSecret = z.infer<typeof RotatedSecret>

export const rotateWebhookSecret = operation({
  name: 'rotateWebhookSecret',
  isRecorded: true,
  needsFreshSignIn: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/portal/webhook-secret/rotate',
  summary: 'Rotate the signing secret',
  description: 'During the overlap, webhooks carry the signatures of both secrets.',
  access: ['merchant'],
  permission: 'manage signing secret',
  params: None,
  query: None,
  headers: NoHeaders,
  body: z
    .strictObject({
      overlap_seconds: z.int().min(0).max(604_800).default(overlapSecondsDefault).meta({
        description: 'how long the previous secret also signs; with discard_current its end does not change',
      }),
      discard_current: z.boolean().default(false).meta({
        description: 'during an overlap: replace the newest secret, which is not in use yet, and keep the previous one',
      }),
    })
    .optional(),
  bodyOptional: true,
  replies: { 200: RotatedSecret },
  errors: ['SECRET_OVERLAP_RUNNING'],
})

export const endSecretOverlap = operation({
  name: 'endSecretOverlap',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'DELETE',
  path: '/api/v1/portal/webhook-secret/previous',
  summary: 'End the overlap of a secret rotation',
  description: 'Only the newest secret signs from then on.',
  access: ['merchant'],
  permission: 'manage signing secret',
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: z.strictObject({ masked_secret: masked, ...overlap }) },
  errors: [],
})
