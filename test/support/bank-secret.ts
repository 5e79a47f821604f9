import { hkdfSync } from 'node:crypto'

/** The key that the service gives its mock bank, so that a test can sign as the bank does. */
export function mockBankSecret(encryptionKey: string): string {
  return Buffer.from(hkdfSync('sha256', Buffer.from(encryptionKey, 'base64'), '', 'svc mock bank', 32)).toString('hex')
}
