import type { App } from '../app.ts'
import { maskAllButLastFour } from '../lib/mask.ts'
import { readReceiver } from '../lib/receivers.ts'
import type { ReceiverLanguage } from '../lib/receivers.ts'
import type { SecretTimes } from './record.ts'
import { foundSecrets, openNewest } from './secret.ts'
import { findSecrets } from './sql.ts'

export type MaskedWebhookSecret = SecretTimes & { maskedSecret: string; snippet: string }

/**
 * The merchant's secret, masked, and a receiver that verifies with it.
 * @throws {DomainError} MERCHANT_NOT_FOUND
 */
export async function getWebhookSecret(
  app: Pick<App, 'pool' | 'sealer'>,
  { merchantId, language }: { merchantId: string; language: ReceiverLanguage },
): Promise<MaskedWebhookSecret> {
  const state = foundSecrets(await findSecrets(app.pool, merchantId))
  const { rotated_at, previous_expires_at } = state
  const snippet = await readReceiver(language)
  return { maskedSecret: maskAllButLastFour(openNewest(app.sealer, state)), snippet, rotated_at, previous_expires_at }
}
