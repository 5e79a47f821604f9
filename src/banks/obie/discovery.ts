import { createLocalJWKSet, errors } from 'jose'
import type { CryptoKey, FlattenedJWSInput, JWSHeaderParameters } from 'jose'
import { z } from 'zod'
import { BankUnavailableError } from '../connector.ts'
import type { BankProfile } from '../profiles.ts'
import type { BankHttp } from './http.ts'

/** What we use of a bank's OpenID configuration. */
const Metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: z.url({ protocol: /^https$/ }),
  token_endpoint: z.url({ protocol: /^https$/ }),
  jwks_uri: z.url({ protocol: /^https$/ }),
  registration_endpoint: z.url({ protocol: /^https$/ }).optional(),
  pushed_authorization_request_endpoint: z.url({ protocol: /^https$/ }).optional(),
  code_challenge_methods_supported: z.array(z.string()).default([]),
})
export type Metadata = z.infer<typeof Metadata>

const Keys = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) })

const METADATA_MS = 3_600_000
/** An unknown key id makes us read the keys again, but not for each forged message. */
const KEYS_MS_LEAST = 30_000

type KeyFinder = (header?: JWSHeaderParameters, token?: FlattenedJWSInput) => Promise<CryptoKey>

/** A bank's configuration and keys, cached. */
export type Discovery = {
  /** @throws {BankUnavailableError} */
  metadata(signal: AbortSignal): Promise<Metadata>
  /** Finds the bank's key for a signature. @throws {BankUnavailableError} */
  keys(signal: AbortSignal): KeyFinder
}

export function makeDiscovery(profile: BankProfile, http: BankHttp): Discovery {
  let known: { metadata: Metadata; until: number } | undefined
  let keySet: { find: KeyFinder; readAt: number } | undefined

  async function readJson<T>(
    step: 'discovery' | 'keys',
    { url, shape, signal }: { url: string; shape: z.ZodType<T>; signal: AbortSignal },
  ): Promise<T> {
    const { status, body } = await http.send({ step, method: 'GET', url }, signal)
    const read = status === 200 ? shape.safeParse(jsonOf(body)) : undefined
    if (read?.success === true) return read.data
    throw new BankUnavailableError(`${profile.id}: its ${step} can't be used (${status})`)
  }

  async function metadata(signal: AbortSignal): Promise<Metadata> {
    if (known !== undefined && known.until > Date.now()) return known.metadata
    const found = await readJson('discovery', { url: profile.discovery, shape: Metadata, signal })
    if (found.issuer !== profile.issuer)
      throw new BankUnavailableError(`${profile.id}: its configuration is that of another issuer`)
    known = { metadata: found, until: Date.now() + METADATA_MS }
    return found
  }

  async function readKeys(signal: AbortSignal) {
    const { jwks_uri: url } = await metadata(signal)
    const jwks = await readJson('keys', { url, shape: Keys, signal })
    keySet = { find: createLocalJWKSet(jwks), readAt: Date.now() }
    return keySet
  }

  return {
    metadata,
    keys: (signal) => async (header, token) => {
      const current = keySet ?? (await readKeys(signal))
      try {
        return await current.find(header, token)
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || Date.now() - current.readAt < KEYS_MS_LEAST) throw error
        return (await readKeys(signal)).find(header, token)
      }
    },
  }
}

/** The JSON of a body; undefined for other bodies. */
export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}
