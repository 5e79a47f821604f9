import { isIP } from 'node:net'

const LENGTH_MAX = 2048

/** Ports that a merchant's endpoint may listen on in live mode: any other port is more likely an internal service. */
const LIVE_PORTS = new Set(['', '443', '8443'])

/** Names that resolve only inside a network. */
const INTERNAL = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|localdomain)$/

export type WebhookUrlMode = {
  /** Config `SVC_WEBHOOK_ALLOW_PRIVATE`: true only in a sandbox, where the merchant's server is next door. */
  allowPrivate: boolean
}

export type UrlProblem = { code: string; message: string }

/**
 * The first rule that an endpoint's address breaks, or undefined. The IP addresses of the host are checked when the
 * connection is made, not here, because they can change in between (decision 38).
 */
export function webhookUrlProblem(text: string, { allowPrivate }: WebhookUrlMode): UrlProblem | undefined {
  if (text.length > LENGTH_MAX) return { code: 'TOO_LONG', message: `must be at most ${LENGTH_MAX} characters long` }
  if (!URL.canParse(text))
    return { code: 'INVALID_URL', message: 'must be a URL, such as https://shop.example/webhooks' }
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return { code: 'INVALID_SCHEME', message: schemeText(text, allowPrivate) }
  if (url.username !== '' || url.password !== '')
    return { code: 'HAS_USERINFO', message: 'must not carry a user name or password' }
  if (text.includes('#')) return { code: 'HAS_FRAGMENT', message: 'must not have a fragment' }
  return allowPrivate ? undefined : liveProblem(url)
}

/** `host:port` parses as a scheme; the message then suggests the full URL. */
function schemeText(text: string, allowPrivate: boolean): string {
  const suggestion = /^[\w.-]+:\d+(\/|$)/.test(text) ? `, such as http://${text}` : ''
  return allowPrivate ? `must begin with http:// or https://${suggestion}` : 'must begin with https://'
}

function liveProblem(url: URL): UrlProblem | undefined {
  const host = url.hostname.replace(/\.$/, '')
  if (url.protocol !== 'https:') return { code: 'HTTPS_REQUIRED', message: 'must begin with https://' }
  if (!LIVE_PORTS.has(url.port)) return { code: 'PORT_NOT_ALLOWED', message: 'must use port 443 or 8443' }
  if (host.startsWith('[') || isIP(host) !== 0)
    return { code: 'IP_NOT_ALLOWED', message: 'must name a host, not an IP address' }
  if (!host.includes('.') || INTERNAL.test(host))
    return { code: 'HOST_NOT_PUBLIC', message: 'must name a host that is reachable from the internet' }
  return undefined
}
