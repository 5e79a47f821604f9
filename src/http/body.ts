import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { DomainError } from '../lib/errors.ts'

/** 100 KiB (contract §Limits). */
export const BODY_BYTES_MAX = 100 * 1024

/** The same without a credential, or with a payer's. */
export const OPEN_BODY_BYTES_MAX = 16 * 1024

const NO_BYTES = Buffer.alloc(0)

/** Whether something may follow the headers (RFC 9112, section 6.3). */
function mayHaveContent({ headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  return coding !== undefined || Number(length ?? 0) > 0
}

/**
 * Whether a body was sent: some clients announce chunks and send none. Chunks that do not come are waited for as long as any
 * request is (http/server.ts).
 */
export async function hasContent(req: IncomingMessage): Promise<boolean> {
  if (!mayHaveContent(req)) return false
  if (req.headers['transfer-encoding'] === undefined) return true
  let isSent = false
  try {
    for await (const _ of req.iterator({ destroyOnReturn: false })) {
      isSent = true
      break
    }
  } catch {
    // The client has disconnected within it.
    return true
  }
  // What follows is dropped, so that the connection can carry another request.
  req.resume()
  return isSent
}

/**
 * Reads a request's body, counting its bytes as they arrive.
 * @throws {DomainError} BODY_TOO_LARGE as soon as it is, without reading the rest. INVALID_JSON when the client disconnects
 */
export async function readBody(req: IncomingMessage, bytesMax = BODY_BYTES_MAX): Promise<Buffer> {
  // Most requests read, and waiting for the end of their body costs 5 µs.
  if (!mayHaveContent(req)) return NO_BYTES
  if (Number(req.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax)
  // A small body has nearly always arrived while the caller was looked up.
  const whole: unknown = req.complete ? req.read() : null
  if (Buffer.isBuffer(whole)) {
    if (whole.length > bytesMax) throw tooLarge(bytesMax)
    return whole
  }
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
  return chunks.length === 1 ? (chunks[0] ?? NO_BYTES) : Buffer.concat(chunks)
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
  rejectDeep(raw)
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

/** Opening and closing brackets, and quotation mark and backslash, as bytes of UTF-8. */
const [OPENING_1, OPENING_2, CLOSING_1, CLOSING_2, QUOTE, BACKSLASH] = Buffer.from('[{]}"\\', 'utf8')

/** A smaller body costs little, however deep it is. */
const SHALLOW_BYTES = 1_024

/** Rejects deep nesting before it is parsed: the parser needs 20 ms for 100 KiB of brackets, this much less than one. */
function rejectDeep(raw: Buffer): void {
  if (raw.length <= SHALLOW_BYTES) return
  let depth = 0
  let isText = false
  for (let at = 0; at < raw.length; at += 1) {
    const byte = raw[at]
    if (isText) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    else if (byte === OPENING_1 || byte === OPENING_2) {
      depth += 1
      if (depth > DEPTH_MAX) throw tooDeep()
    } else if (byte === CLOSING_1 || byte === CLOSING_2) depth -= 1
  }
}

function tooDeep(): DomainError {
  return new DomainError('INVALID_JSON', `the body is nested deeper than ${DEPTH_MAX} levels`)
}

const DEPTH_MAX = 32
const KEYS_MAX = 256

/** Rejects structures that no request needs, and text that the database can't store. Counts over the whole body. */
function rejectHostile(value: unknown, counts: { keys: number; depth: number }): void {
  if (typeof value === 'string') rejectUnstorable(value)
  if (typeof value !== 'object' || value === null) return
  counts.depth += 1
  if (counts.depth > DEPTH_MAX) throw tooDeep()
  // Of a long array the length is enough: its keys would be as many strings.
  counts.keys += Array.isArray(value) ? value.length : 0
  const keys = counts.keys > KEYS_MAX ? [] : Object.keys(value)
  counts.keys += Array.isArray(value) ? 0 : keys.length
  if (counts.keys > KEYS_MAX) throw new DomainError('INVALID_JSON', `the body has more than ${KEYS_MAX} members`)
  for (const key of keys) {
    // Some parsers use it as the object's prototype, and ours drops it: only an attacker sends it.
    if (key === '__proto__') throw new DomainError('INVALID_JSON', 'the body has a member named __proto__')
    rejectUnstorable(key)
    const member: unknown = Reflect.get(value, key)
    // zod compares it with numbers wherever a text or a list is expected, also of an object.
    if (key === 'length' && typeof member === 'object' && member !== null)
      throw new DomainError('INVALID_JSON', 'the body has a member named length that is an object or a list')
    rejectHostile(member, counts)
  }
  counts.depth -= 1
}

function rejectUnstorable(text: string): void {
  if (!text.includes('\u0000') && text.isWellFormed()) return
  throw new DomainError('INVALID_JSON', "the body contains U+0000 or half of a surrogate pair, which can't be stored")
}
