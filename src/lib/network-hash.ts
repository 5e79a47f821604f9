import ipaddr from 'ipaddr.js'
import { setBounded } from './cached-lookup.ts'
import { deriveKey } from './derive-key.ts'
import { hmacHex } from './hmac.ts'

/** Bytes of an IPv6 address that its holder can't choose: the rest of it belongs to one line. */
const OWN_BYTES = 8
/** Bytes of the network that one customer of a provider can have whole, with 65,536 networks of a line in it. */
const WIDE_BYTES = 6

/** Wide networks have this many times the rate of a network: several customers can share one. */
export const WIDE_FACTOR = 4

/** Pseudonyms of a caller's two networks; of an IPv4 address both are the same. */
export type NetworkHashes = { own: string; wide: string }

/**
 * Pseudonyms of a caller's networks for counting requests: the same for the same network, and useless to readers without
 * the master key, from which their key is derived.
 * @param purpose the purpose of counting; each one gives another hash of the same network
 */
export function networkHashes(
  masterKey: string,
  { purpose, clientAddress }: { purpose: string; clientAddress: string },
): NetworkHashes {
  return hashesUnder(deriveKey(masterKey, purpose).toString('hex'), clientAddress)
}

/** Digits of a network's hash in the log: enough to tell networks apart, and shorter than what the log takes for a secret. */
const LOGGED_DIGITS = 16

/** A network as log lines name it. */
export function loggedNetwork({ own }: NetworkHashes): string {
  return own.slice(0, LOGGED_DIGITS)
}

const HASHES_MAX = 10_000

/** The same for one purpose, of the addresses that a process sees again: their hashes are remembered. */
export function makeNetworkHashes(masterKey: string, purpose: string): (clientAddress: string) => NetworkHashes {
  const key = deriveKey(masterKey, purpose).toString('hex')
  const known = new Map<string, NetworkHashes>()
  return (clientAddress) => {
    const found = known.get(clientAddress)
    if (found !== undefined) return found
    const made = hashesUnder(key, clientAddress)
    setBounded(known, clientAddress, made, HASHES_MAX)
    return made
  }
}

function hashesUnder(key: string, clientAddress: string): NetworkHashes {
  const hash = (network: string): string => hmacHex(key, Buffer.from(network, 'utf8'))
  const { own, wide } = networksOf(clientAddress)
  const ownHash = hash(own)
  return { own: ownHash, wide: wide === own ? ownHash : hash(wide) }
}

/** The networks of an address: the address itself of IPv4, the /64 and the /48 of IPv6. */
function networksOf(clientAddress: string): { own: string; wide: string } {
  // Everything without an address, such as a socket that has just closed, counts as one network.
  if (!ipaddr.isValid(clientAddress)) return { own: 'unknown', wide: 'unknown' }
  const address = ipaddr.process(clientAddress)
  if (address.kind() === 'ipv4') return { own: address.toString(), wide: address.toString() }
  const first = (bytes: number): string => Buffer.from(address.toByteArray().slice(0, bytes)).toString('hex')
  return { own: first(OWN_BYTES), wide: first(WIDE_BYTES) }
}
