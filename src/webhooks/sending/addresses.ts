import { Resolver, lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Resolves a hostname to its addresses, in the order to try them; empty if there are none. */
export type Resolve = (hostname: string) => Promise<string[]>

/** An unresponsive name server must not use up an attempt's five seconds. */
const DNS_TIMEOUT_MS = 1_500

/**
 * Resolves names with c-ares. The system's own lookup runs on two threads for the whole process, so that two merchants
 * with dead name servers would delay all deliveries.
 */
export function makeResolve(): Resolve {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 1 })
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  }
}

/** Resolves names like the system, with /etc/hosts: for the sandbox, whose merchants are on localhost. */
export async function resolveLocally(hostname: string): Promise<string[]> {
  const found = await lookup(hostname, { all: true, order: 'ipv4first' }).catch(() => [])
  return found.map(({ address }) => address)
}

/**
 * Whether a webhook may go to this address: only to the public internet. An IPv4 address embedded in an IPv6 one
 * (mapped, NAT64, 6to4) is judged by the embedded address. Addresses not known to be public are rejected.
 */
export function isPublicAddress(address: string): boolean {
  // Only local addresses have a zone ("%eth0").
  if (isIP(address) === 0 || address.includes('%')) return false
  const parsed = ipaddr.parse(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === 'unicast'
  const embedded = embeddedIpv4(parsed)
  if (embedded !== undefined) return isPublicAddress(embedded)
  return parsed.range() === 'unicast' && GLOBAL_UNICAST.test(parsed.toNormalizedString())
}

/** 2000::/3, the only part of IPv6 that is allocated for the internet. */
const GLOBAL_UNICAST = /^[23][0-9a-f]{3}:/

function embeddedIpv4(address: ipaddr.IPv6): string | undefined {
  const bytes = address.toByteArray()
  const well = ipaddr.IPv6.parse('64:ff9b::').toByteArray().slice(0, 12)
  if (address.range() === 'ipv4Mapped') return bytes.slice(12).join('.')
  if (address.range() === '6to4') return bytes.slice(2, 6).join('.')
  return well.every((byte, index) => bytes[index] === byte) ? bytes.slice(12).join('.') : undefined
}
