import ipaddr from 'ipaddr.js'
import { deriveKey } from './derive-key.ts'
import { hmacHex } from './hmac.ts'

/** Bytes of an IPv6 address that its holder can't choose: the rest of it belongs to one customer. */
const IPV6_NETWORK_BYTES = 8

/**
 * A pseudonym of a caller's address for counting requests: the same for the same network, and useless to readers
 * without the master key, from which its key is derived.
 * @param purpose the purpose of counting; each one gives another hash of the same network
 */
export function networkHash(
  masterKey: string,
  { purpose, clientAddress }: { purpose: string; clientAddress: string },
): string {
  const key = deriveKey(masterKey, purpose).toString('hex')
  return hmacHex(key, Buffer.from(networkOf(clientAddress), 'utf8'))
}

export function networkOf(clientAddress: string): string {
  // Everything without an address, such as a socket that has just closed, counts as one network.
  if (!ipaddr.isValid(clientAddress)) return 'unknown'
  const address = ipaddr.process(clientAddress)
  if (address.kind() === 'ipv4') return address.toString()
  return Buffer.from(address.toByteArray().slice(0, IPV6_NETWORK_BYTES)).toString('hex')
}
