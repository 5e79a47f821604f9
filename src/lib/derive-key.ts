import { hkdfSync } from 'node:crypto'

const KEY_BYTES = 32

/**
 * Derives the secret of one purpose from the master key (HKDF): the same in every process, stored nowhere, and it
 * reveals nothing about the master key or the secrets of other purposes.
 * @param masterKey 32 bytes as base64 (config `SVC_ENCRYPTION_KEY`)
 */
export function deriveKey(masterKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', Buffer.from(masterKey, 'base64'), '', `svc ${purpose}`, KEY_BYTES))
}
