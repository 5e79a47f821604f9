import { createLocalJWKSet, errors } from 'jose'
import type { CryptoKey, FlattenedJWSInput, JWSHeaderParameters } from 'jose'
import { z } from 'zod'
import type { BankAnswer } from '../bank-client.ts'
import { BankAnswerError, jsonOf, readMetadata } from '../discovery.ts'
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
    if (known !== undefined && known.until > performance.now()) return known.metadata
    const problemOf = async (answer: BankAnswer) => problemIn(() => readMetadata(answer, profile))
    const answer = await http.send({ step: 'discovery', method: 'GET', url: profile.discovery, problemOf }, signal)
    known = { metadata: readMetadata(answer, profile), until: performance.now() + METADATA_MS }
    return known.metadata
  }

  async function readKeys(signal: AbortSignal) {
    const { jwks_uri: url } = await metadata(signal)
    const problemOf = async (answer: BankAnswer) => problemIn(() => keysIn(answer))
    const answer = await http.send({ step: 'keys', method: 'GET', url, problemOf }, signal)
    keySet = { find: createLocalJWKSet(keysIn(answer)), readAt: performance.now() }
    return keySet
  }

  return {
    metadata,
    keys: (signal) => async (header, token) => {
      // A key that the bank has withdrawn is not believed for ever.
      const isOld = keySet === undefined || performance.now() - keySet.readAt > METADATA_MS
      const current = isOld || keySet === undefined ? await readKeys(signal) : keySet
      try {
        return await current.find(header, token)
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || performance.now() - current.readAt < KEYS_MS_LEAST)
          throw error
        return (await readKeys(signal)).find(header, token)
      }
    },
  }
}

function keysIn({ status, body }: BankAnswer): z.infer<typeof Keys> {
  const { data } = Keys.safeParse(jsonOf(body))
  if (status !== 200 || data === undefined) throw new BankAnswerError(`its keys can't be read (${status})`)
  return data
}

/** What reading an answer finds wrong with it. */
function problemIn(read: () => unknown): string | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    if (error instanceof BankAnswerError) return error.message
    throw error
  }
}
