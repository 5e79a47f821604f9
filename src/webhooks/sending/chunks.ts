/** `unclear`: it can't be said where the body ends. */
export type ChunkState = 'more' | 'complete' | 'unclear'

const SIZE = /^([\da-f]{1,8})[ \t]*(?:;|$)/i

/** Lines between the chunks have no use: they are short, or the connection is not used again. */
const LINE_MAX_CHARACTERS = 1_024
const TRAILERS_MAX = 32
const NEWLINE = 10

/**
 * Reads a body in chunks (`Transfer-Encoding: chunked`).
 * @param keep takes the bytes of the body, and returns whether they exceed its limit
 */
export function makeChunkDecoder(keep: (bytes: Buffer) => boolean): (bytes: Buffer) => ChunkState {
  let expected: 'size' | 'end of chunk' | 'trailer' = 'size'
  /** Bytes until the end of the current chunk. */
  let left = 0
  let line = ''
  let trailerCount = 0

  function readLine(text: string): ChunkState {
    switch (expected) {
      case 'size': {
        const [, digits] = SIZE.exec(text) ?? []
        if (digits === undefined) return 'unclear'
        left = Number.parseInt(digits, 16)
        expected = left === 0 ? 'trailer' : 'end of chunk'
        return 'more'
      }
      case 'end of chunk':
        expected = 'size'
        return text === '' ? 'more' : 'unclear'
      case 'trailer':
        trailerCount += 1
        if (text === '') return 'complete'
        return trailerCount > TRAILERS_MAX ? 'unclear' : 'more'
    }
  }

  return (bytes) => {
    for (let at = 0; at < bytes.length;) {
      if (left > 0) {
        const body = bytes.subarray(at, at + left)
        left -= body.length
        at += body.length
        if (keep(body)) return 'unclear'
        continue
      }
      const newline = bytes.indexOf(NEWLINE, at)
      line += bytes.toString('latin1', at, newline < 0 ? bytes.length : newline)
      if (line.length > LINE_MAX_CHARACTERS || (newline >= 0 && !line.endsWith('\r'))) return 'unclear'
      if (newline < 0) return 'more'
      const state = readLine(line.slice(0, -1))
      line = ''
      at = newline + 1
      if (state !== 'more') return at < bytes.length ? 'unclear' : state
    }
    return 'more'
  }
}
