import type { Provider } from 'oidc-provider'
import type { Exchange } from './answer-resource.ts'
import type { Books } from './books.ts'
import type { Calls } from './calls.ts'
import type { IssuedCertificate } from './certificates.ts'
import type { Directory } from './directory.ts'
import type { Faults } from './faults.ts'
import type { Answers, Idempotency } from './idempotency.ts'
import type { ProtocolRows } from './protocol-state.ts'
import type { QuirkName } from './quirks.ts'
import type { SigningKey } from './signing-keys.ts'

/** One running model bank. */
export type Bank = {
  issuer: string
  /** The bank's own organisation, which signs its answers. */
  orgId: string
  /** Signs id tokens. */
  signingKey: SigningKey
  /** Sign messages: the last does, the others are still announced. */
  messageKeys: SigningKey[]
  /** A key that the bank does not publish, for answers with a wrong signature. */
  strangeKey: SigningKey
  directory: Directory
  provider: Provider
  books: Books
  faults: Faults
  quirks: Set<QuirkName>
  calls: Calls
  idempotency: Idempotency
  answers: Answers
  protocol: ProtocolRows
  endAccessTokens(): void
  /** Takes another certificate, and ends the connections that have seen the one before. */
  useCertificate(certificate: IssuedCertificate): void
  onExchange(exchange: Exchange): void
}
