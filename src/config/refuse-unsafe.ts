import type { Config } from './config.ts'
import type { Environment } from './environment.ts'
import { ConfigError } from './parse.ts'
import { isLoopback } from './reachable.ts'

/**
 * Refuses what would leave the service open to everyone (decision 57), and what is for the sandbox alone.
 * @throws {ConfigError} with all of it
 */
export function refuseUnsafe(config: Config, env: Environment): void {
  const isLive = config.mode === 'live'
  const isOpen = config.identity === 'none'
  const problems = [
    repeatedKey(config),
    isLive && isOpen && 'SVC_IDENTITY=none trusts any caller and is refused in live mode; leave it out',
    isOpen &&
      !isLoopback(config.host) &&
      'SVC_IDENTITY=none trusts any caller and is refused on an address that others can reach; leave it out, or set SVC_HOST to 127.0.0.1',
    config.identity === 'keycloak' &&
      config.keycloak === undefined &&
      'SVC_IDENTITY=keycloak needs SVC_AUTH_URL and SVC_KEYCLOAK_CLIENT_SECRET; examples/keycloak tells how to make the client',
    isLive &&
      config.keycloak?.authUrl.startsWith('https:') === false &&
      'SVC_AUTH_URL must be an https:// address in live mode: secrets and tokens travel there',
    isLive &&
      config.sslRequired === 'none' &&
      'SVC_SSL_REQUIRED=none is refused in live mode: tokens would travel in clear',
    isLive &&
      env.SVC_TRUST_PROXY === undefined &&
      'SVC_TRUST_PROXY must be set in live mode: true where a proxy with TLS stands in front, whose X-Forwarded-For tells callers apart; false where none does',
    isLive &&
      config.sms?.url.startsWith('https:') === false &&
      "SVC_SMS_URL must be an https:// address in live mode: texts carry links that open a payer's payments",
    isLive && config.smtpUrl === undefined && 'SVC_SMTP_URL must be set in live mode: invitations are sent by mail',
    isLive &&
      config.webhookAllowPrivate &&
      'SVC_WEBHOOK_ALLOW_PRIVATE=true is refused in live mode: webhooks must not reach private addresses',
    isLive &&
      config.webhookTimeScale !== 1 &&
      'SVC_WEBHOOK_TIME_SCALE is refused in live mode: merchants rely on the schedule of retries',
    isLive &&
      (config.publicUrl === undefined || new URL(config.publicUrl).protocol !== 'https:') &&
      'SVC_PUBLIC_URL must be an https:// address in live mode: payers are sent there',
  ].filter((problem) => problem !== false)
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
}

/**
 * What is wrong with master keys of which two are one: that is a slip, one of the two was to be another. The same bytes
 * can be written in two ways.
 */
export function repeatedKey({
  encryptionKey,
  encryptionKeysPrevious,
}: Pick<Config, 'encryptionKey' | 'encryptionKeysPrevious'>): string | false {
  const keys = [encryptionKey, ...encryptionKeysPrevious].map((key) => Buffer.from(key, 'base64').toString('hex'))
  return new Set(keys).size < keys.length && 'SVC_ENCRYPTION_KEY_PREVIOUS has a key that stands there already'
}
