import { createHmac, timingSafeEqual } from 'node:crypto'

/*
 * One-time codes by time (RFC 6238) as authenticator apps make them: HMAC-SHA-1, six digits, steps of 30 seconds.
 */

const STEP_SECONDS = 30
const DIGITS = 6
/** How far the clock of a phone may be off, in steps (RFC 6238, section 5.2). */
const STEPS_OFF = 1

/** The step of a moment. */
export function totpStep(nowMs: number): number {
  return Math.floor(nowMs / 1_000 / STEP_SECONDS)
}

/** The code of a step (RFC 4226, section 5.3). */
export function totpCode(secret: Buffer, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = mac.readUInt8(mac.length - 1) & 0xf
  const truncated = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff
  return String(truncated % 10 ** digits).padStart(digits, '0')
}

/** The step that a code belongs to: the current one, or one beside it. Undefined for a code of no such step. */
export function matchingStep(secret: Buffer, code: string, nowMs: number): number | undefined {
  const given = Buffer.from(code)
  if (given.length !== DIGITS) return undefined
  const now = totpStep(nowMs)
  const steps = Array.from({ length: 2 * STEPS_OFF + 1 }, (_, index) => now - STEPS_OFF + index)
  // The newest first, and all of them, so that the time taken says nothing.
  return steps.filter((step) => timingSafeEqual(Buffer.from(totpCode(secret, step)), given)).at(-1)
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Base32 without padding (RFC 4648), the form in which authenticator apps take a secret. */
export function base32(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => ALPHABET.charAt(Number.parseInt(five.padEnd(5, '0'), 2))).join('')
}

/** The address that an authenticator app reads from a QR code. */
export function totpAddress(secret: Buffer, { issuer, account }: { issuer: string; account: string }): string {
  return `otpauth://totp/${encodeURIComponent(account)}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`
}
