import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { DomainError } from '../lib/errors.ts'

/** 100 KiB (decision 29). */
export const BODY_BYTES_MAX = 100 * 1024

/**
 * Reads a request's body, counting its bytes as they arrive.
 * @throws {DomainError} BODY_TOO_LARGE as soon as it is, without reading the rest. INVALID_JSON when the client disconnects
 */
export async function readBody(req: IncomingMessage, bytesMax = BODY_BYTES_MAX): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax)
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length
      if (bytes > bytesMax) throw tooLarge(bytesMax)
      chunks.push(chunk)
    }
  } catch (cause) {
    if (cause instanceof DomainError) throw cause
    // The client has disconnected. Its network error must not be mistaken for one of the database.
    throw new DomainError('INVALID_JSON', 'the body is incomplete', { cause })
  }
  return chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks)
}

function tooLarge(bytesMax: number): DomainError {
  return new DomainError('BODY_TOO_LARGE', `the body is larger than ${bytesMax} bytes`)
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
  if (!isUtf8(raw)) throw new DomainError('INVALID_JSON', 'the body is not UTF-8')
  const value = parse(raw.toString('utf8'))
  rejectHostile(value, { keys: 0, depth: 0 })
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
const KEYS_MAX = 256

/** Rejects structures that no request needs, and text that the database can't store. Counts over the whole body. */
function rejectHostile(value: unknown, counts: { keys: number; depth: number }): void {
  if (typeof value === 'string') rejectUnstorable(value)
  if (typeof value !== 'object' || value === null) return
  counts.depth += 1
  if (counts.depth > DEPTH_MAX)
    throw new DomainError('INVALID_JSON', `the body is nested deeper than ${DEPTH_MAX} levels`)
  for (const [key, member] of Object.entries(value)) {
    counts.keys += 1
    if (counts.keys > KEYS_MAX) throw new DomainError('INVALID_JSON', `the body has more than ${KEYS_MAX} members`)
    // Some parsers use it as the object's prototype, and ours drops it: only an attacker sends it.
    if (key === '__proto__') throw new DomainError('INVALID_JSON', 'the body has a member named __proto__')
    rejectUnstorable(key)
    rejectHostile(member, counts)
  }
  counts.depth -= 1
}

function rejectUnstorable(text: string): void {
  if (!text.includes('\u0000') && text.isWellFormed()) return
  throw new DomainError('INVALID_JSON', "the body contains U+0000 or half of a surrogate pair, which can't be stored")
}
