import type { IncomingHttpHeaders } from 'node:http'

/** What of a request can prove who sends it. */
export type Credentials = {
  headers: IncomingHttpHeaders
  /** Names and values in turn, as they came: `headers` keeps only the first of two. */
  rawHeaders: readonly string[]
  params: Readonly<Record<string, string>>
  /** Where the request comes from; `''` where nobody knows. */
  clientAddress?: string
}
