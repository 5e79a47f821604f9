import type { App } from '../app.ts'
import type { SealContext } from '../lib/seal.ts'
import type { SealedSecrets } from './record.ts'
import { findSecrets } from './sql.ts'
import { foundSecrets, previousSecretContext, webhookSecretContext } from './secret.ts'
import type { SigningSecrets } from './secret.ts'

/** Maximum number of merchants whose secrets are cached; beyond it the oldest is evicted. */
const OPENED_MAX = 1_000

type SealerApp = Pick<App, 'sealer' | 'log'>

/**
 * Opens a merchant's sealed secrets.
 * @throws when the newest one can't be opened; a previous one that can't is logged, and signs nothing
 */
export type OpenSecrets = (sealed: SealedSecrets) => SigningSecrets

/**
 * Caches each merchant's opened secret beside its sealed text, because opening one costs more than signing with it. A rotated
 * secret has another sealed text, so that an old one is never used. A previous secret that can't be opened is cached as well, so
 * that it is logged once and not with every delivery.
 */
export function makeOpenSecrets(app: SealerApp): OpenSecrets {
  const open = cached((sealed: string, context: SealContext) => app.sealer.open(sealed, context))
  const openPrevious = cached((sealed: string, context: SealContext) => openOrNull(app, sealed, context))
  return ({ merchant_id, webhook_signing_secret, webhook_secret_previous: previous }) => ({
    secret: open(webhook_signing_secret, webhookSecretContext(merchant_id)),
    previousSecret: previous === null ? null : openPrevious(previous, previousSecretContext(merchant_id)),
  })
}

/**
 * The secrets that currently sign a merchant's events.
 * @throws {DomainError} MERCHANT_NOT_FOUND
 */
export async function findSigningSecrets(
  app: SealerApp & Pick<App, 'pool'>,
  merchantId: string,
): Promise<SigningSecrets> {
  return makeOpenSecrets(app)(foundSecrets(await findSecrets(app.pool, merchantId)))
}

/** The same for what goes on without a signature: undefined, and logged, where the newest secret can't be opened. */
export async function findUsableSecrets(
  app: SealerApp & Pick<App, 'pool'>,
  merchantId: string,
): Promise<SigningSecrets | undefined> {
  const sealed = foundSecrets(await findSecrets(app.pool, merchantId))
  try {
    return makeOpenSecrets(app)(sealed)
  } catch (error) {
    app.log.error(
      { err: error, merchant_id: merchantId },
      "a signing secret can't be opened; payers go back to their shop without a signed result",
    )
    return undefined
  }
}

type Open<T> = (sealed: string, context: SealContext) => T

function cached<T>(open: Open<T>): Open<T> {
  const opened = new Map<string, { sealed: string; value: T }>()
  return (sealed, context) => {
    const known = opened.get(context.merchantId)
    if (known?.sealed === sealed) return known.value
    const value = open(sealed, context)
    opened.delete(context.merchantId)
    const [oldest] = opened.keys()
    if (opened.size >= OPENED_MAX && oldest !== undefined) opened.delete(oldest)
    opened.set(context.merchantId, { sealed, value })
    return value
  }
}

/** Receivers with the newest secret must get their webhooks even if the previous one can't be opened. */
function openOrNull({ sealer, log }: SealerApp, sealed: string, context: SealContext): string | null {
  try {
    return sealer.open(sealed, context)
  } catch (error) {
    log.error(
      { err: error, merchant_id: context.merchantId },
      "a previous signing secret can't be opened; webhooks carry the newest one's signature alone",
    )
    return null
  }
}
