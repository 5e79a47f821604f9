import { makeAuthorisationServer } from './authorisation-server.ts'
import type { Bank } from './bank.ts'
import { makeBooks } from './books.ts'
import { makeCalls } from './calls.ts'
import type { Authority } from './certificates.ts'
import { makeDirectory } from './directory.ts'
import { makeFaults } from './faults.ts'
import { makeIdempotency } from './idempotency.ts'
import type { QuirkName } from './quirks.ts'
import { rewriteIdTokens } from './rewrite-id-tokens.ts'
import { makeSigningKey, readSigningKey, savedKeyOf } from './signing-keys.ts'
import type { SavedState } from './state-file.ts'

const ORG_ID = '0015800001041REAAY'

/** A bank with new keys and empty books, or the one that was saved. Faults and quirks are never saved. */
export async function makeBank(
  parts: Pick<Bank, 'issuer' | 'useCertificate' | 'onExchange'> & {
    authority: Authority
    saved: SavedState | undefined
    redirectUris: readonly string[]
    quirks: readonly QuirkName[]
  },
): Promise<Bank> {
  const { issuer, authority, saved, redirectUris, useCertificate, onExchange } = parts
  const directory = await makeDirectory(authority, { issuer, redirectUris, saved: saved?.directory })
  const signingKey = saved === undefined ? await makeSigningKey() : await readSigningKey(saved.signingKey)
  const messageKeys =
    saved === undefined ? [await makeSigningKey()] : await Promise.all(saved.messageKeys.map(readSigningKey))
  const books = saved?.books ?? makeBooks()
  const quirks = new Set(parts.quirks)
  const protocol = saved?.protocol ?? new Map()
  const answers = saved?.answers ?? new Map()
  const faults = makeFaults()
  const server = makeAuthorisationServer({
    issuer,
    signingKey,
    messageKeys,
    books,
    directory,
    quirks,
    faults,
    protocol,
  })
  rewriteIdTokens(server.provider, { key: signingKey, quirks, faults })
  return {
    issuer,
    orgId: ORG_ID,
    signingKey,
    messageKeys,
    strangeKey: await makeSigningKey(),
    directory,
    ...server,
    books,
    faults,
    quirks,
    calls: makeCalls(),
    answers,
    protocol,
    idempotency: makeIdempotency(answers),
    useCertificate,
    onExchange,
  }
}

export function savedStateOf(bank: Bank, authority: Authority): SavedState {
  return {
    issuer: bank.issuer,
    authority: { cert: authority.pem, key: authority.key },
    directory: bank.directory.save(),
    signingKey: savedKeyOf(bank.signingKey),
    messageKeys: bank.messageKeys.map(savedKeyOf),
    books: bank.books,
    answers: bank.answers,
    protocol: bank.protocol,
  }
}
