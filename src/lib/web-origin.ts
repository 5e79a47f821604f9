export type WebOriginRules = {
  /** Whether plain http is allowed to this machine itself, as in the sandbox. */
  allowLoopbackHttp: boolean
}

/** The origin as browsers write it, or the rule that it breaks. */
export type OriginResult = { origin: string } | { code: string; message: string }

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1'])
const HOST_LENGTH_MAX = 253
/** Letters, digits and hyphens: nothing with a special meaning in a header that lists origins. */
const HOST = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const ORIGIN_ALONE = /^[a-z][a-z0-9+.-]*:\/\/[^/\\?#@\s]+$/i

/**
 * Parses the origin of a page: scheme, host and port, and nothing after them. The result is written as browsers send
 * it: in lower case, without the scheme's own port, an international name in its ASCII form.
 */
export function readWebOrigin(text: string, { allowLoopbackHttp }: WebOriginRules): OriginResult {
  if (!ORIGIN_ALONE.test(text) || !URL.canParse(text)) {
    return {
      code: 'INVALID_ORIGIN',
      message:
        'must be an origin and nothing else: no path, no final slash, no user name; such as https://shop.example',
    }
  }
  const { protocol, hostname, host } = new URL(text)
  const isLoopback = LOOPBACK_HOSTS.has(hostname)
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback && allowLoopbackHttp)) {
    const rule = allowLoopbackHttp
      ? 'must begin with https:// (http:// only for localhost)'
      : 'must begin with https://'
    return { code: 'HTTPS_REQUIRED', message: rule }
  }
  if (isLoopback && !allowLoopbackHttp) return { code: 'HOST_NOT_PUBLIC', message: 'must not name this machine' }
  if (!isLoopback && /^(\[|\d+(\.\d+){3}$)/.test(hostname))
    return { code: 'IP_NOT_ALLOWED', message: 'must name a host, not an IP address' }
  if (hostname.length > HOST_LENGTH_MAX || !HOST.test(hostname))
    return {
      code: 'INVALID_HOST',
      message: 'must name one host in full, without wildcards, underscores or a final dot',
    }
  return { origin: `${protocol}//${host}` }
}
