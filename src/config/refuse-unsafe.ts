import type { Config } from './config.ts'
import type { Environment } from './environment.ts'
import { ConfigError } from './parse.ts'
import { isLoopback } from './reachable.ts'

/**
 * Rejects a configuration that leaves the service open to everyone (decision 57), and sandbox settings in live mode.
 * @throws {ConfigError} with all problems
 */
export function refuseUnsafe(config: Config, env: Environment): void {
  const isLive = config.mode === 'live'
  const isOpen = config.identity === 'none'
  const problems = [
    repeatedKey(config),
    isLive && isOpen && 'SVC_IDENTITY=none trusts any caller and is not allowed in live mode; leave it out',
    isOpen &&
      !isLoopback(config.host) &&
      'SVC_IDENTITY=none trusts any caller and is not allowed on an address that other machines can reach; leave it out, or set SVC_HOST to 127.0.0.1',
    config.identity === 'keycloak' &&
      config.keycloak === undefined &&
      'SVC_IDENTITY=keycloak needs SVC_AUTH_URL and SVC_KEYCLOAK_CLIENT_SECRET; see examples/keycloak for how to create the client',
    isLive &&
      config.keycloak?.authUrl.startsWith('https:') === false &&
      'SVC_AUTH_URL must be an https:// address in live mode: secrets and tokens travel there',
    isLive &&
      config.sslRequired === 'none' &&
      'SVC_SSL_REQUIRED=none is not allowed in live mode: tokens would travel unencrypted',
    isLive &&
      env.SVC_TRUST_PROXY === undefined &&
      'SVC_TRUST_PROXY must be set in live mode: true behind a proxy with TLS that sets X-Forwarded-For, otherwise false',
    isLive &&
      env.SVC_VRP_CAPS === undefined &&
      'SVC_VRP_CAPS must be set in live mode: enforce rejects payments above the caps that payers have agreed to, ignore takes them',
    isLive &&
      config.sms?.url.startsWith('https:') === false &&
      "SVC_SMS_URL must be an https:// address in live mode: texts carry links that open a payer's payments",
    isLive &&
      config.alerts.url?.startsWith('https:') === false &&
      'SVC_ALERT_URL must be an https:// address in live mode: alerts name merchants and banks',
    isLive && config.smtpUrl === undefined && 'SVC_SMTP_URL must be set in live mode: invitations are sent by mail',
    config.alerts.mail !== undefined &&
      config.smtpUrl === undefined &&
      'SVC_ALERT_MAIL needs SVC_SMTP_URL: the server that sends the mails',
    isLive &&
      config.webhookAllowPrivate &&
      'SVC_WEBHOOK_ALLOW_PRIVATE=true is not allowed in live mode: webhooks must not reach private addresses',
    isLive &&
      config.webhookTimeScale !== 1 &&
      'SVC_WEBHOOK_TIME_SCALE is not allowed in live mode: merchants rely on the retry schedule',
    config.bankProfiles !== undefined &&
      config.collectionAccount === undefined &&
      'SVC_BANK_PROFILES needs SVC_COLLECTION_ACCOUNT: the account that payments are credited to',
    isLive &&
      config.payoutConnector === 'mock' &&
      'SVC_PAYOUT_CONNECTOR=mock is not allowed in live mode: the mock bank moves no money',
    isLive &&
      (config.publicUrl === undefined || new URL(config.publicUrl).protocol !== 'https:') &&
      'SVC_PUBLIC_URL must be an https:// address in live mode: payers are sent there',
  ].filter((problem) => problem !== false)
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
}

/**
 * The problem of two equal master keys, which is a mistake; false if there is none. Compares bytes, which base64 can
 * write in two ways.
 */
export function repeatedKey({
  encryptionKey,
  encryptionKeysPrevious,
}: Pick<Config, 'encryptionKey' | 'encryptionKeysPrevious'>): string | false {
  const keys = [encryptionKey, ...encryptionKeysPrevious].map((key) => Buffer.from(key, 'base64').toString('hex'))
  return new Set(keys).size < keys.length && 'SVC_ENCRYPTION_KEY_PREVIOUS repeats a key'
}
