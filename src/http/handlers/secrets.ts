import { endOverlap as endIt } from '../../signing/end-overlap.ts'
import { rotateSecret } from '../../signing/rotate-secret.ts'
import { showSecret } from '../../signing/show-secret.ts'
import { overlapSecondsDefault } from '../../wire/secrets.ts'
import type * as wire from '../../wire/secrets.ts'
import type { Handler } from '../endpoint.ts'
import { merchantOf } from '../principal.ts'

/** GET /api/v1/portal/webhook-secret */
export const getSecret: Handler<typeof wire.getWebhookSecret> = async (app, { principal, query }) => {
  const { merchantId } = merchantOf(principal)
  const { language } = query
  const { maskedSecret, snippet, ...times } = await showSecret(app, { merchantId, language })
  return { status: 200, body: { masked_secret: maskedSecret, verification_snippet: snippet, language, ...times } }
}

/** POST /api/v1/portal/webhook-secret/rotate */
export const rotate: Handler<typeof wire.rotateWebhookSecret> = async (app, { principal, body }) => {
  const { merchantId, actor } = merchantOf(principal)
  const overlapSeconds = body?.overlap_seconds ?? overlapSecondsDefault
  const discardCurrent = body?.discard_current ?? false
  const rotated = await rotateSecret(app, { merchantId, overlapSeconds, discardCurrent, actor })
  const { secret, maskedSecret, ...times } = rotated
  return { status: 200, body: { webhook_signing_secret: secret, masked_secret: maskedSecret, ...times } }
}

/** DELETE /api/v1/portal/webhook-secret/previous */
export const endOverlap: Handler<typeof wire.endSecretOverlap> = async (app, { principal }) => {
  const { merchantId, actor } = merchantOf(principal)
  const { maskedSecret, ...times } = await endIt(app, { merchantId, actor })
  return { status: 200, body: { masked_secret: maskedSecret, ...times } }
}
