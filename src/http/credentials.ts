import type { IncomingHttpHeaders } from 'node:http'

/** The parts of a request that can authenticate its caller. */
export type Credentials = {
  headers: IncomingHttpHeaders
  /** Names and values in turn, as received: `headers` keeps only the first of two. */
  rawHeaders: readonly string[]
  params: Readonly<Record<string, string>>
  /** The address of the client; `''` if unknown. */
  clientAddress?: string
}
