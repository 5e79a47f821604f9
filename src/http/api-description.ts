import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { App } from '../app.ts'

type Description = { etag: string; plain: Buffer; compressed: Buffer }

/** How long a cache may use a description without asking again, in seconds. */
const FRESH_S = 300

/**
 * Serves a description of the API as JSON. It is made and compressed once, when it is first asked for: making it takes tens
 * of milliseconds of the only thread, and anybody may ask.
 */
export function serveDescription(
  app: App,
  make: (app: App) => object,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  let made: Promise<Description> | undefined
  return async (req, res) => {
    made ??= describe(make(app))
    const { etag, plain, compressed } = await made
    const headers = {
      'cache-control': `public, max-age=${FRESH_S}`,
      etag,
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
    }
    if (holdsVersion(req.headers['if-none-match'], etag)) {
      res.writeHead(304, headers).end()
      return
    }
    const isCompressed = takesGzip(req.headers['accept-encoding'])
    const body = isCompressed ? compressed : plain
    res.writeHead(200, {
      ...headers,
      ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
      'content-type': 'application/json; charset=utf-8',
      'content-length': body.length,
    })
    res.end(body)
  }
}

async function describe(document: object): Promise<Description> {
  const plain = Buffer.from(JSON.stringify(document))
  const compressed = await promisify(gzip)(plain)
  return { etag: `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`, plain, compressed }
}

/** Whether the caller has this version already (RFC 9110, If-None-Match, compared weakly). */
function holdsVersion(given: string | undefined, etag: string): boolean {
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')
  return given !== undefined && given.split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag))
}

/** Whether a response may be compressed (RFC 9110, Accept-Encoding): `gzip` or `*`, unless with the weight 0. */
function takesGzip(accepted: string | undefined): boolean {
  const weights = new Map(
    (accepted ?? '').split(',').map((item) => {
      const [name = '', ...parameters] = item.toLowerCase().split(';')
      const weight = parameters
        .map((text) => /^\s*q\s*=\s*([\d.]+)\s*$/.exec(text)?.[1])
        .find((text) => text !== undefined)
      return [name.trim(), Number(weight ?? 1)] as const
    }),
  )
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0
}
