import { endSecretOverlap } from '../../signing/end-secret-overlap.ts'
import { rotateWebhookSecret } from '../../signing/rotate-webhook-secret.ts'
import { getWebhookSecret } from '../../signing/get-webhook-secret.ts'
import { overlapSecondsDefault } from '../../wire/secrets.ts'
import type * as wire from '../../wire/secrets.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantOf } from '../principal.ts'

export const secrets: Handlers<typeof wire> = {
  /** GET /api/v1/portal/webhook-secret */
  async getWebhookSecret(app, { principal, query }) {
    const { merchantId } = merchantOf(principal)
    const { language } = query
    const { maskedSecret, snippet, ...times } = await getWebhookSecret(app, { merchantId, language })
    return { status: 200, body: { masked_secret: maskedSecret, verification_snippet: snippet, language, ...times } }
  },

  /** POST /api/v1/portal/webhook-secret/rotate */
  async rotateWebhookSecret(app, { principal, body }) {
    const { merchantId, actor } = merchantOf(principal)
    const overlapSeconds = body?.overlap_seconds ?? overlapSecondsDefault
    const discardCurrent = body?.discard_current ?? false
    const rotated = await rotateWebhookSecret(app, { merchantId, overlapSeconds, discardCurrent, actor })
    const { secret, maskedSecret, ...times } = rotated
    return { status: 200, body: { webhook_signing_secret: secret, masked_secret: maskedSecret, ...times } }
  },

  /** DELETE /api/v1/portal/webhook-secret/previous */
  async endSecretOverlap(app, { principal }) {
    const { merchantId, actor } = merchantOf(principal)
    const { maskedSecret, ...times } = await endSecretOverlap(app, { merchantId, actor })
    return { status: 200, body: { masked_secret: maskedSecret, ...times } }
  },
}
