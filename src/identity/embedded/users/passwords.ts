import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

/** OWASP's recommendation for argon2id: 19 MiB, two passes, one lane. One hash took 26 ms when measured. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const HASH_BYTES = 32

export const PASSWORD_LENGTH = { min: 12, max: 256 }

/** `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`, the format of argon2's own tools. */
const ENCODED =
  /^\$argon2id\$v=19\$m=(?<memory>\d{1,7}),t=(?<passes>\d{1,3}),p=(?<parallelism>\d{1,3})\$(?<salt>[A-Za-z0-9+/]{11,86})\$(?<hash>[A-Za-z0-9+/]{43})$/

const derive = promisify(argon2)

/** Hashes a password for storage. */
export async function hashPassword(plain: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await deriveFrom(plain, { ...COST, salt })
  const cost = `m=${COST.memory},t=${COST.passes},p=${COST.parallelism}`
  return `$argon2id$v=19$${cost}$${unpadded(salt)}$${unpadded(hash)}`
}

/** Whether the password matches the hash. A malformed hash matches nothing. */
export async function verifyPassword(plain: string, encoded: string): Promise<boolean> {
  const parts = ENCODED.exec(encoded)?.groups
  if (parts === undefined) return false
  const known = Buffer.from(parts['hash'] ?? '', 'base64')
  const hash = await deriveFrom(plain, {
    memory: Number(parts['memory']),
    passes: Number(parts['passes']),
    parallelism: Number(parts['parallelism']),
    salt: Buffer.from(parts['salt'] ?? '', 'base64'),
  })
  return timingSafeEqual(hash, known)
}

/** Takes as long as `verifyPassword` when there is no hash to compare with, so that timing reveals nothing. */
export async function verifyDummyPassword(plain: string): Promise<false> {
  await deriveFrom(plain, { ...COST, salt: Buffer.alloc(SALT_BYTES) })
  return false
}

type Derivation = { memory: number; passes: number; parallelism: number; salt: Buffer }

function deriveFrom(plain: string, { salt, ...cost }: Derivation): Promise<Buffer> {
  // Keyboards encode an accented letter as one character or as two.
  const message = Buffer.from(plain.normalize('NFKC'), 'utf8')
  return derive('argon2id', { message, nonce: salt, tagLength: HASH_BYTES, ...cost })
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}

/** Why a password is not allowed, for the person who chose it; undefined if it is allowed. */
export function passwordProblem(plain: string, email: string): string | undefined {
  const { length } = Array.from(plain)
  if (length < PASSWORD_LENGTH.min) return `The password must have at least ${PASSWORD_LENGTH.min} characters.`
  if (length > PASSWORD_LENGTH.max) return `The password must have at most ${PASSWORD_LENGTH.max} characters.`
  const folded = plain.normalize('NFKC').trim().toLowerCase()
  if (folded === email.toLowerCase()) return 'The password must not be your e-mail address.'
  if (isCommon(folded)) return 'This password is too easy to guess. Choose another.'
  return undefined
}

/** The most common passwords of 12 or more characters in published leaks. */
const COMMON = new Set([
  '098765432109',
  '0987654321098',
  '111222333444',
  '112233445566',
  '123123123123',
  '1234567890-=',
  '123456789012',
  '1234567890123',
  '12345678901234',
  '123456789012345',
  '1234567890123456',
  '123456789abc',
  '123456789qwe',
  '1234567891011',
  '123qwe123qwe',
  '1q2w3e4r5t6y',
  '1q2w3e4r5t6y7u',
  '1qaz2wsx3edc',
  '1qaz2wsx3edc4rfv',
  '987654321012',
  'administrator',
  'administrator1',
  'asdfghjkl123',
  'changemeplease',
  'changeme1234',
  'correcthorsebatterystaple',
  'correct horse battery staple',
  'iloveyou1234',
  'letmein12345',
  'letmeinplease',
  'mypassword123',
  'password1234',
  'password12345',
  'password123456',
  'password!123',
  'passwordpassword',
  'p@ssw0rd1234',
  'p@ssword1234',
  'qazwsxedcrfv',
  'qwerty123456',
  'qwerty1234567',
  'qwertyqwerty',
  'qwertyuiop12',
  'qwertyuiop123',
  'qwertyuiop[]',
  'qwertyuiopas',
  'q1w2e3r4t5y6',
  'test12345678',
  'testtesttest',
  'welcome12345',
  'zaq12wsxcde3',
])

function isCommon(folded: string): boolean {
  return COMMON.has(folded) || /^(.{1,4})\1+$/.test(folded)
}
