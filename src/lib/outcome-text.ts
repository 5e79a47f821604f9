const TEXTS: ReadonlyMap<string, string> = new Map([
  ['delivered', 'delivered'],
  ['answered', 'answered'],
  ['connect', 'connection refused or no route'],
  ['dns', "the host's name has no address"],
  ['tls', 'TLS failed: the certificate or handshake is invalid'],
  ['timeout', 'no response within 5 seconds'],
  ['reset', 'connection reset before a response'],
  ['redirect', 'answered with a redirect, which is not followed'],
  ['blocked', 'an address that webhooks may not reach'],
  ['bad_response', 'the response is not valid HTTP'],
  ['worker_lost', 'the workers stopped while sending it'],
  ['http_401', 'answered 401: the receiver rejects the signature'],
])

/**
 * The outcome of a delivery attempt in words for people; programs read the code. Unknown codes are returned as they
 * are.
 */
export function outcomeText(outcome: string): string {
  return TEXTS.get(outcome) ?? outcome.replace(/^http_(\d{3})$/, 'answered $1')
}
