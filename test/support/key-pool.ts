import crypto from 'node:crypto'
import type { webcrypto } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/*
 * The RSA keys of the tests' realms: each takes 40 ms of a core to make, hundreds are needed in a run, and none of them
 * guards anything. The nth that any test file makes is therefore the nth of a row that is kept: within a file no two are
 * alike, and what is made of a key, or done with it, is the real thing. Every other kind of key is made anew, and so are
 * those of a service that a test starts as a process of its own.
 */
const folder = join(tmpdir(), `svc-test-keys-${process.getuid?.() ?? 0}`)
const makeKeyPair = promisify(crypto.generateKeyPair)

let taken = 0

/** A new test file begins in this process, and with it the row. */
export function restartKeys(): void {
  taken = 0
}

function readKey(file: string): crypto.KeyObject | undefined {
  try {
    return crypto.createPrivateKey(readFileSync(file))
  } catch {
    return undefined
  }
}

async function makeKey(file: string): Promise<crypto.KeyObject> {
  const { privateKey } = await makeKeyPair('rsa', { modulusLength: 2048 })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Renamed into place, so that no process reads half a key.
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  renameSync(draft, file)
  return privateKey
}

async function nextKeyPair(): Promise<crypto.KeyPairKeyObjectResult> {
  const file = join(folder, `${taken}.pem`)
  taken += 1
  const privateKey = readKey(file) ?? (await makeKey(file))
  return { privateKey, publicKey: crypto.createPublicKey(privateKey) }
}

const isPooled = (type: string, options?: unknown): boolean =>
  type === 'rsa' && JSON.stringify(options) === '{"modulusLength":2048}'

// Only the promise is taken from the row. With a callback, as libraries call it, it stays as it is.
const original = crypto.generateKeyPair
const generateKeyPair = (...words: Parameters<typeof original>): void => original(...words)
Object.assign(generateKeyPair, {
  [promisify.custom]: (...words: Parameters<typeof makeKeyPair>) =>
    isPooled(...words) ? nextKeyPair() : makeKeyPair(...words),
})
Object.assign(crypto, { generateKeyPair })
syncBuiltinESMExports()

// The keys of the model bank, which a library makes by the Web's own interface.
const { subtle } = globalThis.crypto
const generateByName = subtle.generateKey.bind(subtle)
const OF_THE_PRIVATE_KEY: readonly webcrypto.KeyUsage[] = ['sign', 'decrypt', 'unwrapKey']

type RsaAlgorithm = { name: string; hash: string; modulusLength: number }

function isPooledRsa(algorithm: unknown): algorithm is RsaAlgorithm {
  const { name, modulusLength } = algorithm as Partial<RsaAlgorithm>
  return name?.startsWith('RSA') === true && modulusLength === 2048
}

async function importNext(
  { name, hash }: RsaAlgorithm,
  isExtractable: boolean,
  usages: readonly webcrypto.KeyUsage[],
): Promise<webcrypto.CryptoKeyPair> {
  const pair = await nextKeyPair()
  const own = (isPrivate: boolean) => usages.filter((usage) => OF_THE_PRIVATE_KEY.includes(usage) === isPrivate)
  const [privateKey, publicKey] = await Promise.all([
    subtle.importKey(
      'pkcs8',
      pair.privateKey.export({ type: 'pkcs8', format: 'der' }),
      { name, hash },
      isExtractable,
      own(true),
    ),
    subtle.importKey('spki', pair.publicKey.export({ type: 'spki', format: 'der' }), { name, hash }, true, own(false)),
  ])
  return { privateKey, publicKey }
}

Object.assign(subtle, {
  generateKey: (...words: Parameters<typeof generateByName>) => {
    const [algorithm, isExtractable, usages] = words
    return isPooledRsa(algorithm) ? importNext(algorithm, isExtractable, usages) : generateByName(...words)
  },
})
