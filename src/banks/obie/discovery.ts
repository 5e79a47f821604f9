import { createLocalJWKSet, errors } from 'jose'
import type { CryptoKey, FlattenedJWSInput, JWSHeaderParameters } from 'jose'
import { z } from 'zod'
import { BankUnavailableError } from '../connector.ts'
import { BankAnswerError, discover, jsonOf } from '../discovery.ts'
import type { BankMetadata } from '../discovery.ts'
import type { BankProfile } from '../profiles.ts'
import type { BankHttp } from './http.ts'

const Keys = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) })

const METADATA_MS = 3_600_000
/** An unknown key id makes us read the keys again, but not for each forged message. */
const KEYS_MS_LEAST = 30_000

type KeyFinder = (header?: JWSHeaderParameters, token?: FlattenedJWSInput) => Promise<CryptoKey>

/** A bank's configuration and keys, cached. */
export type Discovery = {
  /** @throws {BankUnavailableError} */
  metadata(signal: AbortSignal): Promise<BankMetadata>
  /** Finds the bank's key for a signature. @throws {BankUnavailableError} */
  keys(signal: AbortSignal): KeyFinder
}

export function makeDiscovery(profile: BankProfile, http: BankHttp): Discovery {
  let known: { metadata: BankMetadata; until: number } | undefined
  let keySet: { find: KeyFinder; readAt: number } | undefined

  async function metadata(signal: AbortSignal): Promise<BankMetadata> {
    if (known !== undefined && known.until > Date.now()) return known.metadata
    try {
      const found = await discover({ send: (call) => http.send({ ...call, step: 'discovery' }, signal) }, profile)
      known = { metadata: found, until: Date.now() + METADATA_MS }
      return found
    } catch (error) {
      if (!(error instanceof BankAnswerError)) throw error
      throw new BankUnavailableError(`${profile.id}: ${error.message}`, { cause: error })
    }
  }

  async function readKeys(signal: AbortSignal) {
    const { jwks_uri: url } = await metadata(signal)
    const { status, body } = await http.send({ step: 'keys', method: 'GET', url }, signal)
    const jwks = Keys.safeParse(jsonOf(body))
    if (status !== 200 || !jwks.success)
      throw new BankUnavailableError(`${profile.id}: its keys can't be read (${status})`)
    keySet = { find: createLocalJWKSet(jwks.data), readAt: Date.now() }
    return keySet
  }

  return {
    metadata,
    keys: (signal) => async (header, token) => {
      // A key that the bank has withdrawn is not believed for ever.
      const isOld = keySet === undefined || Date.now() - keySet.readAt > METADATA_MS
      const current = isOld || keySet === undefined ? await readKeys(signal) : keySet
      try {
        return await current.find(header, token)
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || Date.now() - current.readAt < KEYS_MS_LEAST) throw error
        return (await readKeys(signal)).find(header, token)
      }
    },
  }
}
