import { makeChunkDecoder } from './chunks.ts'
import { makeResponseExcerpt } from './response-excerpt.ts'

/** How much of a response body is read: for its excerpt, and to be able to reuse the connection. */
const BODY_MAX_BYTES = 16 * 1024
/** Of the final response and of those before it together: each costs as much to read, and they could come without end. */
const HEADS_MAX_BYTES = 16 * 1024

/** Reads the HTTP/1.1 responses of a connection, one after another. */
export type ResponseReader = {
  /**
   * Begins the next response. @param isHead whether the request's method is HEAD: its response has no body, whatever
   * its headers say
   */
  begin(options: { isHead: boolean }): void
  /** Makes the response invalid, whatever is read. */
  invalidate(): void
  /** Returns whether the reader is done: the response is complete, invalid, or its rest is of no use. */
  read(bytes: Buffer): boolean
  /** The final status, once its headers are complete. */
  status(): number | null
  /** Whether the bytes are not an HTTP response. */
  isInvalid(): boolean
  /**
   * Whether this may be what the server sent before it had the request, on a connection that was used before: the rest of
   * the response to the request before, or the 408 with which a proxy closes an idle connection.
   */
  mayBeUnasked(): boolean
  /**
   * How many seconds the connection may be idle before it is used again: 0 if it can't be, because the server closes
   * it, or because it is unclear where the response ends.
   */
  reusableSeconds(): number
  /** The beginning of the body. */
  excerpt(): string | null
}

/** Of an informational or final response: HTTP/1.1 and a status of three digits. */
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/
const STATUS_LINE_BEGINNING = 'HTTP/1.'
const HEADER_LINE = /^([\w!#$%&'*+.^`|~-]+):[ \t]*(.*?)[ \t]*$/
const DIGITS = /^\d{1,15}$/

/** What a head says; `code` is undefined where it is not one of HTTP. */
type Head = { code: string | undefined; headers: Headers }

export function makeResponseReader(): ResponseReader {
  let isHead = false
  let beginning: ReturnType<typeof makeResponseExcerpt> | undefined
  let head: Buffer | undefined
  let status: number | null = null
  let isInvalid = false
  /** Whether what is invalid does not even begin like a response. */
  let isOther = false
  let headBytesLeft = HEADS_MAX_BYTES
  let bodyBytes = 0
  let framing: Framing = NO_BODY
  let reusableSeconds = 0
  let chunks: ReturnType<typeof makeChunkDecoder> | undefined
  // A server's responses are often the same within a second, which is as fine as their date.
  let known: { text: string; head: Head } | undefined

  function failAt(bytes: Buffer): true {
    isInvalid = true
    isOther = !beginsLikeResponse(bytes)
    return true
  }

  function headOf(text: string): Head {
    if (known?.text !== text) known = { text, head: parseHead(text) }
    return known.head
  }

  /** Returns whether the reader is done. */
  function readHead(bytes: Buffer): boolean {
    let rest = head === undefined ? bytes : Buffer.concat([head, bytes])
    head = undefined
    while (rest.length > 0) {
      const end = rest.indexOf('\r\n\r\n')
      if (end < 0 || end + 4 > headBytesLeft) {
        if (end >= 0 || rest.length >= headBytesLeft || !beginsLikeResponse(rest)) return failAt(rest)
        // Copied, because the next read of any connection overwrites it.
        head = Buffer.from(rest)
        return false
      }
      const { code, headers } = headOf(rest.toString('latin1', 0, end))
      // A protocol that was not requested: what follows is not HTTP.
      if (code === undefined || code === '101') return failAt(rest)
      rest = rest.subarray(end + 4)
      // Informational responses (1xx) precede the final one.
      if (code.startsWith('1')) {
        headBytesLeft -= end + 4
        continue
      }
      status = Number(code)
      const hasNoBody = isHead || status === 204 || status === 304
      framing = hasNoBody && headers.framing.kind !== 'unclear' ? NO_BODY : { ...headers.framing }
      const isDelimited = framing.kind !== 'unclear' && framing.kind !== 'until closed'
      reusableSeconds = isDelimited && !(hasNoBody && announcesBody(status, headers)) ? headers.idleSeconds : 0
      return readBody(rest)
    }
    return false
  }

  function readBody(bytes: Buffer): boolean {
    switch (framing.kind) {
      case 'none':
        if (bytes.length > 0) reusableSeconds = 0
        return true
      case 'unclear':
        keep(bytes)
        return true
      case 'until closed':
        return keep(bytes)
      case 'length': {
        const body = bytes.length > framing.left ? bytes.subarray(0, framing.left) : bytes
        if (body.length < bytes.length) reusableSeconds = 0
        framing.left -= body.length
        return keep(body) || framing.left === 0
      }
      case 'chunked': {
        chunks ??= makeChunkDecoder(keep)
        const state = chunks(bytes)
        if (state === 'unclear') reusableSeconds = 0
        return state !== 'more'
      }
    }
  }

  /** Returns whether the body exceeds its limit. */
  function keep(bytes: Buffer): boolean {
    if (bytes.length === 0) return false
    bodyBytes += bytes.length
    beginning ??= makeResponseExcerpt()
    beginning.add(bytes)
    if (bodyBytes <= BODY_MAX_BYTES) return false
    reusableSeconds = 0
    return true
  }

  return {
    begin: (options) => {
      ;({ isHead } = options)
      beginning = undefined
      head = undefined
      status = null
      isInvalid = false
      isOther = false
      headBytesLeft = HEADS_MAX_BYTES
      bodyBytes = 0
      framing = NO_BODY
      reusableSeconds = 0
      chunks = undefined
    },
    invalidate: () => (isInvalid = true),
    read: (bytes) => (status === null ? readHead(bytes) : readBody(bytes)),
    status: () => status,
    isInvalid: () => isInvalid,
    mayBeUnasked: () => isOther || (status === 408 && reusableSeconds <= 0),
    reusableSeconds: () => reusableSeconds,
    excerpt: () => beginning?.text() ?? null,
  }
}

function beginsLikeResponse(bytes: Buffer): boolean {
  return STATUS_LINE_BEGINNING.startsWith(bytes.toString('latin1', 0, STATUS_LINE_BEGINNING.length))
}

/**
 * Whether a response whose status rules out a body announces one all the same. Servers that send it do so after a moment,
 * when the connection may be in use again. With 304 a length is that of the response to a GET.
 */
function announcesBody(status: number, { framing, isCoded }: Headers): boolean {
  return isCoded || (status === 204 && framing.kind === 'length')
}

/** Where a body ends. `unclear`: the headers contradict each other, so the connection is not used again. */
type Framing = { kind: 'none' | 'chunked' | 'until closed' | 'unclear' } | { kind: 'length'; left: number }

const NO_BODY: Framing = { kind: 'none' }

type Headers = { framing: Framing; isCoded: boolean; idleSeconds: number }

/** Servers close idle connections; a second is left for the request to arrive before that. */
const KEPT_SECONDS = 4

function parseHead(text: string): Head {
  const lines = text.split('\r\n')
  const [, minor, code] = STATUS_LINE.exec(lines[0] ?? '') ?? []
  return { code, headers: readHeaders(lines, minor === '0') }
}

/** Reads the headers that say where the body ends and whether the connection stays open; the others are ignored. */
function readHeaders(lines: readonly string[], isOld: boolean): Headers {
  const lengths = new Set<string>()
  let coding: string | undefined
  let isUnclear = false
  let seconds = isOld ? 0 : KEPT_SECONDS
  for (let at = 1; at < lines.length; at += 1) {
    const [, name, value = ''] = HEADER_LINE.exec(lines[at] ?? '') ?? []
    switch (name?.toLowerCase()) {
      case undefined:
        isUnclear = true
        break
      case 'content-length':
        lengths.add(value)
        break
      case 'transfer-encoding':
        coding = coding === undefined ? value.toLowerCase() : 'several'
        break
      case 'connection':
        if (/\bclose\b/i.test(value)) seconds = 0
        break
      case 'keep-alive': {
        const [, timeout] = /\btimeout=(\d{1,6})\b/i.exec(value) ?? []
        if (timeout !== undefined) seconds = Math.min(seconds, Number(timeout) - 1)
        break
      }
    }
  }
  const framing = framingOf({ lengths, coding, isUnclear })
  return { framing, isCoded: coding !== undefined, idleSeconds: seconds }
}

function framingOf(input: { lengths: Set<string>; coding: string | undefined; isUnclear: boolean }): Framing {
  const { lengths, coding, isUnclear } = input
  const [length] = lengths
  if (isUnclear || lengths.size > 1 || (length !== undefined && (coding !== undefined || !DIGITS.test(length))))
    return { kind: 'unclear' }
  if (coding !== undefined) return { kind: coding === 'chunked' ? 'chunked' : 'until closed' }
  if (length === undefined) return { kind: 'until closed' }
  return length === '0' ? { kind: 'none' } : { kind: 'length', left: Number(length) }
}
