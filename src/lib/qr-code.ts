import { interleave } from './qr-correction.ts'
import type { Version } from './qr-correction.ts'

/*
 * QR codes (ISO/IEC 18004) for short addresses: byte mode, error correction level M, versions 1 to 9.
 * test/lib/qr-code.test.ts compares each version with another encoder.
 */

/** Modules by row and column: true is dark. */
export type Modules = boolean[][]

/** The largest version here: 53 modules on a side, which any camera reads from a screen. */
const VERSION_MAX = 9

/** Level M by version: correction codewords per block, and blocks. */
const CORRECTION = [10, 16, 26, 18, 24, 16, 18, 22, 22]
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5]

function describe(version: number): Version {
  const blocks = BLOCKS[version - 1] ?? 1
  const correction = CORRECTION[version - 1] ?? 10
  const patterns = version < 2 ? 0 : version < 7 ? 25 : 176
  const codewords = ((16 * version + 128) * version + 64 - patterns) >> 3
  return { version, size: version * 4 + 17, blocks, correction, codewords, data: codewords - blocks * correction }
}

/**
 * Encodes a text with the given mask, or the best of the eight.
 * @throws {RangeError} if the text is longer than 180 bytes
 */
export function qrCode(text: string, mask?: number): Modules {
  const bytes = new TextEncoder().encode(text)
  for (let version = 1; version <= VERSION_MAX; version += 1) {
    const kind = describe(version)
    if (bytes.length > kind.data - 2) continue
    const codewords = interleave(withHeader(bytes, kind), kind)
    const masks = mask === undefined ? [0, 1, 2, 3, 4, 5, 6, 7] : [mask]
    return masks.map((each) => draw(codewords, kind, each)).reduce((a, b) => (penalty(b) < penalty(a) ? b : a))
  }
  throw new RangeError('the text is too long for a QR code')
}

/** Mode, length, bytes, terminator and padding. */
function withHeader(bytes: Uint8Array, { data }: Version): number[] {
  const digits = `4${Array.from([bytes.length, ...bytes], (byte) => byte.toString(16).padStart(2, '0')).join('')}0`
  const filled = (digits.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16))
  for (let filler = 0xec; filled.length < data; filler ^= 0xfd) filled.push(filler)
  return filled
}

const MASKS: readonly ((x: number, y: number) => number)[] = [
  (x, y) => (x + y) % 2,
  (_, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + (y >> 1)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
]

function draw(codewords: readonly number[], { version, size }: Version, mask: number): Modules {
  const modules: (boolean | undefined)[][] = Array.from({ length: size }, () => Array.from({ length: size }))
  const set = (x: number, y: number, isDark: boolean): void => {
    const row = modules[y]
    if (row !== undefined && x >= 0 && x < size) row[x] = isDark
  }
  for (let at = 0; at < size; at += 1) {
    set(6, at, at % 2 === 0)
    set(at, 6, at % 2 === 0)
  }
  const square = (x: number, y: number, radius: number): void => {
    for (let dy = -radius; dy <= radius; dy += 1)
      for (let dx = -radius; dx <= radius; dx += 1) {
        const ring = Math.max(Math.abs(dx), Math.abs(dy))
        set(x + dx, y + dy, ring !== radius - (radius === 4 ? 0 : 1) && ring !== 2 - (radius === 4 ? 0 : 1))
      }
  }
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]] as const) square(x, y, 4) // prettier-ignore
  const lines = alignment(version, size)
  const last = lines.length - 1
  lines.forEach((x, i) =>
    lines.forEach((y, j) => {
      const isCorner = (i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0)
      if (!isCorner) square(x, y, 2)
    }),
  )
  drawFormat(set, size, mask)
  if (version >= 7) drawVersion(set, size, version)
  fill(modules, size, codewords, MASKS[mask] ?? (() => 1))
  return modules.map((row) => row.map((isDark) => isDark === true))
}

function alignment(version: number, size: number): number[] {
  if (version === 1) return []
  return version < 7 ? [6, size - 7] : [6, (size - 1) / 2, size - 7]
}

type Set = (x: number, y: number, isDark: boolean) => void

/** The format bits: level M is 0, then the mask and ten correction bits. */
function drawFormat(set: Set, size: number, mask: number): void {
  let rest = mask
  for (let step = 0; step < 10; step += 1) rest = (rest << 1) ^ ((rest >> 9) * 0x537)
  const bits = ((mask << 10) | rest) ^ 0x5412
  for (let at = 0; at < 15; at += 1) {
    const isDark = ((bits >> at) & 1) === 1
    set(8, at < 6 ? at : at < 8 ? at + 1 : size - 15 + at, isDark)
    set(at < 8 ? size - 1 - at : at === 8 ? 7 : 14 - at, 8, isDark)
  }
  set(8, size - 8, true)
}

function drawVersion(set: Set, size: number, version: number): void {
  let rest = version
  for (let step = 0; step < 12; step += 1) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25)
  const bits = (version << 12) | rest
  for (let at = 0; at < 18; at += 1) {
    const isDark = ((bits >> at) & 1) === 1
    const [near, far] = [Math.floor(at / 3), size - 11 + (at % 3)]
    set(far, near, isDark)
    set(near, far, isDark)
  }
}

/** Fills the data in a zigzag of two columns from the lower right, around the fixed patterns. */
function fill(
  modules: (boolean | undefined)[][],
  size: number,
  codewords: readonly number[],
  mask: (x: number, y: number) => number,
): void {
  let bit = 0
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5
    const isUpwards = ((right + 1) & 2) === 0
    for (let step = 0; step < size; step += 1)
      for (const x of [right, right - 1]) {
        const y = isUpwards ? size - 1 - step : step
        const row = modules[y]
        if (row === undefined || row[x] !== undefined) continue
        const isDark = (((codewords[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1
        row[x] = isDark !== (mask(x, y) === 0)
        bit += 1
      }
  }
}

/** The penalty of a mask: long runs, blocks, finder-like patterns, and too much of one colour. */
function penalty(modules: Modules): number {
  const text = (rows: Modules): string[] => rows.map((row) => row.map((isDark) => (isDark ? 1 : 0)).join(''))
  const rows = text(modules)
  const columns = text(modules.map((_, x) => modules.map((row) => row[x] === true)))
  let sum = 0
  for (const line of [...rows, ...columns]) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) sum += run.length - 2
    sum += 40 * [...line.matchAll(/(?=00001011101|10111010000)/g)].length
  }
  rows.forEach((row, y) => {
    for (let x = 1; x < row.length; x += 1) {
      const block = `${row.slice(x - 1, x + 1)}${rows[y + 1]?.slice(x - 1, x + 1) ?? ''}`
      if (block === '0000' || block === '1111') sum += 3
    }
  })
  const dark = rows.join('').replaceAll('0', '').length
  return sum + 10 * Math.floor(Math.abs(dark / rows.length ** 2 - 0.5) * 20)
}
