import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { Page } from './user-agent.ts'

/** What a thief, or a faulty authenticator, does otherwise. */
export type Faults = {
  origin?: string
  rpId?: string
  challenge?: string
  isVerified?: boolean
  signCount?: number
  type?: string
}

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const SYNCED = 0x08
const HAS_KEY = 0x40

/** The options that a page holds for `navigator.credentials`. @throws on a page without */
export function optionsOf({ status, url, text }: Page): { challenge: string } {
  const found = /data-options="([^"]*)"/.exec(text)?.[1]
  if (found === undefined) throw new Error(`${status} ${url} asks for no passkey:\n${text.slice(0, 2_000)}`)
  return JSON.parse(found.replaceAll('&quot;', '"').replaceAll('&amp;', '&'))
}

/** An authenticator without a device (WebAuthn level 3, sections 6.1 and 6.5): it signs whatever it is told to. */
export class Authenticator {
  readonly id = randomBytes(16)
  readonly #key = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly #origin: string
  readonly #isSynced: boolean
  signCount = 0

  constructor(origin: string, { isSynced = false } = {}) {
    this.#origin = origin
    this.#isSynced = isSynced
  }

  /** The answer to a page that offers to create a passkey. */
  create(page: Page, faults: Faults = {}): string {
    const { x = '', y = '' } = this.#key.publicKey.export({ format: 'jwk' })
    const coordinate = (text: string): Buffer =>
      Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(text, 'base64url')])
    // COSE: an EC key for ES256 on P-256.
    const key = Buffer.concat([
      Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21]),
      coordinate(x),
      Buffer.from([0x22]),
      coordinate(y),
    ])
    const data = Buffer.concat([
      this.#data(faults, HAS_KEY),
      Buffer.alloc(16),
      Buffer.from([0, this.id.length]),
      this.id,
      key,
    ])
    const text = (value: string): Buffer => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)])
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      text('fmt'),
      text('none'),
      text('attStmt'),
      Buffer.from([0xa0]),
      text('authData'),
      Buffer.from([0x58, data.length]),
      data,
    ])
    const clientData = this.#clientData('webauthn.create', page, faults)
    return this.#credential({ clientDataJSON: clientData, attestationObject: attestation })
  }

  /** The answer to a page that asks for a passkey. */
  get(page: Page, faults: Faults = {}): string {
    this.signCount += 1
    const clientData = this.#clientData('webauthn.get', page, faults)
    const data = this.#data(faults, 0)
    const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()])
    const signature = sign('sha256', signed, this.#key.privateKey)
    return this.#credential({ clientDataJSON: clientData, authenticatorData: data, signature })
  }

  #data({ rpId = new URL(this.#origin).hostname, isVerified = true, signCount }: Faults, flags: number): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.#isSynced ? 0 : (signCount ?? this.signCount))
    const all = flags | USER_PRESENT | (isVerified ? USER_VERIFIED : 0) | (this.#isSynced ? SYNCED : 0)
    return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([all]), counter])
  }

  #clientData(type: string, page: Page, faults: Faults): Buffer {
    const { challenge = optionsOf(page).challenge, origin = this.#origin } = faults
    return Buffer.from(JSON.stringify({ type: faults.type ?? type, challenge, origin, crossOrigin: false }))
  }

  #credential(response: Record<string, Buffer>): string {
    const id = this.id.toString('base64url')
    const members = Object.entries(response).map(([name, value]) => [name, value.toString('base64url')])
    return JSON.stringify({ id, rawId: id, type: 'public-key', response: Object.fromEntries(members) })
  }
}
