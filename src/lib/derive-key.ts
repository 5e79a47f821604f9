import { hkdfSync } from 'node:crypto'

const KEY_BYTES = 32

/**
 * A secret of its own for one purpose, made from the master key: the same for every process, stored nowhere, and nothing
 * of the master key or of other purposes can be learnt from it.
 * @param masterKey 32 bytes as base64 (config `SVC_ENCRYPTION_KEY`)
 */
export function deriveKey(masterKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', Buffer.from(masterKey, 'base64'), '', `svc ${purpose}`, KEY_BYTES))
}
