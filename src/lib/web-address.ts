/** The rules for an address from outside before it is stored or used as a redirect. */
export type WebAddressRules = {
  /** Whether plain http is allowed to this machine itself, as in the sandbox. */
  allowLoopbackHttp: boolean
}

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]'])
const LENGTH_MAX = 2048

/**
 * The problem of an address that browsers will be redirected to, or undefined for a valid one: https (or http on this
 * machine), no user or password, no bare IP address of another machine, no syntax that URL parsers read differently.
 */
export function webAddressProblem(text: string, { allowLoopbackHttp }: WebAddressRules): string | undefined {
  if (text.length > LENGTH_MAX) return `must be at most ${LENGTH_MAX} characters long`
  // Browsers strip or convert these characters before parsing; the address that we check must be the one that they open.
  // oxlint-disable-next-line no-control-regex -- the characters are the point
  if (/[\u0000-\u0020\u007f\\]/.test(text)) return 'must not contain spaces, control characters or backslashes'
  if (!URL.canParse(text)) return 'must be a complete address, such as https://shop.example/return'
  const url = new URL(text)
  const loopback = LOOPBACK_HOSTS.has(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopback && allowLoopbackHttp)) {
    return allowLoopbackHttp ? 'must start with https:// (http:// only for localhost)' : 'must start with https://'
  }
  if (!/^https?:\/\/[^/]/i.test(text)) return 'must have its host right after the two slashes'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  if (!writesItsHost(text, url)) return 'must have its host in plain ASCII letters, as browsers show it'
  if (!loopback && /^(\[|\d+(\.\d+){3}$)/.test(url.hostname)) return 'must name a host, not an IP address'
  if (loopback && !allowLoopbackHttp) return 'must not point to this machine'
  return undefined
}

/**
 * Whether the text contains the host exactly as parsers read it: no full-width dots, no percent signs, no numbers for
 * addresses.
 */
function writesItsHost(text: string, url: URL): boolean {
  const authority = text.slice(url.protocol.length + 2).split(/[/?#]/)[0] ?? ''
  return authority.toLowerCase().replace(/:\d*$/, '') === url.hostname
}

/** Adds parameters to an address, whose own query is kept as written (RFC 6749, section 3.1.2). */
export function withParameters(target: URL, parameters: Record<string, string>): string {
  const url = new URL(target)
  const before = url.search === '' ? '' : `${url.search.slice(1)}&`
  url.search = `?${before}${new URLSearchParams(parameters)}`
  return url.href
}
