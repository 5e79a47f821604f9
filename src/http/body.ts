import type { IncomingMessage } from 'node:http'
import { DomainError } from '../lib/errors.ts'

/** 100 KiB (decision 29). */
export const BODY_BYTES_MAX = 100 * 1024

/**
 * Reads a request's body, counting its bytes as they come.
 * @throws {DomainError} BODY_TOO_LARGE as soon as it is; the rest is not read
 */
export async function readBody(req: IncomingMessage): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > BODY_BYTES_MAX) throw tooLarge()
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw tooLarge()
    chunks.push(chunk)
  }
  return chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks)
}

function tooLarge(): DomainError {
  return new DomainError('BODY_TOO_LARGE', `the body is larger than ${BODY_BYTES_MAX} bytes`)
}

/**
 * Parses a JSON body.
 * @returns undefined for an empty body
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE, INVALID_JSON
 */
export function parseJsonBody(raw: Buffer, contentType: string | undefined): unknown {
  if (raw.length === 0) return undefined
  if (!/^application\/json\s*(;|$)/i.test(contentType ?? '')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'the body must be sent as Content-Type: application/json')
  }
  const text = raw.toString('utf8')
  const value = parse(text)
  // What JSON can write but the database can't hold; the pattern only decides whether a closer look is worth it.
  if (/\\u(0000|d[89a-f])|\u0000/i.test(text)) refuseUnstorable(value)
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new DomainError('INVALID_JSON', 'the body is not valid JSON', { cause })
  }
}

const DEPTH_MAX = 32

function refuseUnstorable(value: unknown, depth = 0): void {
  if (depth > DEPTH_MAX) throw new DomainError('INVALID_JSON', `the body is nested deeper than ${DEPTH_MAX} levels`)
  if (typeof value === 'string' && (value.includes('\u0000') || !value.isWellFormed())) {
    throw new DomainError('INVALID_JSON', 'the body contains U+0000 or half of a surrogate pair, which can\'t be stored')
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    refuseUnstorable(key, depth)
    refuseUnstorable(member, depth + 1)
  }
}
