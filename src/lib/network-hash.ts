import ipaddr from 'ipaddr.js'
import { deriveKey } from './derive-key.ts'
import { hmacHex } from './hmac.ts'

/** Bits of an IPv6 address that its holder can't choose: the rest of it is all one customer's. */
const IPV6_NETWORK_BYTES = 8

/**
 * What stands for a caller's address where requests are counted: the same for the same network, and useless to whoever
 * reads it, for the key is derived from the master key.
 * @param purpose what is counted; another one makes another hash of the same network
 */
export function networkHash(
  masterKey: string,
  { purpose, clientAddress }: { purpose: string; clientAddress: string },
): string {
  const key = deriveKey(masterKey, purpose).toString('hex')
  return hmacHex(key, Buffer.from(networkOf(clientAddress), 'utf8'))
}

export function networkOf(clientAddress: string): string {
  // What is no address, as a socket that has just closed has none, is one network too.
  if (!ipaddr.isValid(clientAddress)) return 'unknown'
  const address = ipaddr.process(clientAddress)
  if (address.kind() === 'ipv4') return address.toString()
  return Buffer.from(address.toByteArray().slice(0, IPV6_NETWORK_BYTES)).toString('hex')
}
