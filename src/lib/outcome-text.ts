const TEXTS: ReadonlyMap<string, string> = new Map([
  ['delivered', 'delivered'],
  ['answered', 'answered'],
  ['connect', 'connection refused or no route'],
  ['dns', "the host's name has no address"],
  ['tls', 'no TLS connection: its certificate or handshake is not good'],
  ['timeout', 'no answer within 5 seconds'],
  ['reset', 'the connection was cut before an answer'],
  ['redirect', 'answered with a redirect, which is not followed'],
  ['blocked', 'an address that webhooks may not reach'],
  ['bad_response', 'what answered does not speak HTTP'],
  ['worker_lost', 'the workers that sent it were lost on the way'],
  ['http_401', 'answered 401: the receiver rejects the signature'],
])

/** How an attempt at an endpoint ended, in words for people; programs read the code. One that is new stays a code. */
export function outcomeText(outcome: string): string {
  return TEXTS.get(outcome) ?? outcome.replace(/^http_(\d{3})$/, 'answered $1')
}
