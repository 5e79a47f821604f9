import type { KeycloakSettings } from './settings.ts'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
const PORTS: Record<string, string> = { 'smtp:': '587', 'smtps:': '465' }

/** `Name <address>`, or the address alone. */
const FROM = /^\s*(?:"?(?<name>[^"<]*?)"?\s*)<(?<address>[^<>\s]+)>\s*$/

/** A realm's mail server in Keycloak's form; undefined if none is configured. */
export function mailServerOf({ smtpUrl, mailFrom }: Pick<KeycloakSettings, 'smtpUrl' | 'mailFrom'>) {
  if (smtpUrl === undefined) return undefined
  const { protocol, hostname, port, username, password } = new URL(smtpUrl)
  const from = FROM.exec(mailFrom)?.groups
  const login =
    username === ''
      ? { auth: 'false' }
      : { auth: 'true', user: decodeURIComponent(username), password: decodeURIComponent(password) }
  return {
    host: hostname.replaceAll(/[[\]]/g, ''),
    port: port === '' ? (PORTS[protocol] ?? '587') : port,
    from: from?.['address'] ?? mailFrom.trim(),
    fromDisplayName: from?.['name'] ?? '',
    ssl: String(protocol === 'smtps:'),
    // STARTTLS, except for a relay on this machine, which has no certificate.
    starttls: String(protocol === 'smtp:' && !LOOPBACK.has(hostname)),
    ...login,
  }
}
