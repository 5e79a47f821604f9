import type { App } from '../../app.ts'
import { isUuid } from '../../lib/ids.ts'
import { verifySignature } from '../../lib/webhook-signature.ts'
import { DomainError } from '../../lib/errors.ts'
import { findSigningSecrets } from '../../signing/open-secrets.ts'

export type Received = { merchantId: string; signature: string | undefined; rawBody: Buffer }

/**
 * The demo merchant's server: responds with 200 to a webhook with a valid signature, and with 401 to any other. So a
 * DELIVERED delivery of the sandbox was really signed and verified. During the overlap of a rotation it accepts both
 * secrets, because a webhook in transit during the rotation has the signature of the previous one.
 */
export async function receiveWebhook(app: App, { merchantId, signature, rawBody }: Received): Promise<200 | 401 | 404> {
  if (!isUuid(merchantId)) return 404
  try {
    const { secret, previousSecret } = await findSigningSecrets(app, merchantId)
    const held = previousSecret === null ? [secret] : [secret, previousSecret]
    if (signature === undefined) return 401
    return held.some((each) => verifySignature({ secret: each, body: rawBody, signature })) ? 200 : 401
  } catch (error) {
    if (error instanceof DomainError && error.code === 'MERCHANT_NOT_FOUND') return 404
    throw error
  }
}
