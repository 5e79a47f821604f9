import type { Io } from '../base/io.ts'
import type { Printer } from './output.ts'

// What the standard asks for around a code, in modules.
const QUIET_ZONE = 4

type Terminal = { io: Io; print: Printer; note(text: string): void }

export type QrOptions = {
  /** Of the terminal; a code that does not fit can't be read. */
  width: number | undefined
  /** Whether colours can be set: dark on light reads with every camera. */
  isColoured: boolean
}

/** A code, or how many columns it would need where it does not fit. */
export type QrCode = { lines: string[] } | { needs: number }

/**
 * A QR code in half blocks, two rows of it in each line. Without colours a terminal is taken to be dark: what is light
 * is drawn.
 */
export async function qrCode(text: string, { width = Infinity, isColoured }: QrOptions): Promise<QrCode> {
  const { encode } = await import('uqr')
  const { data, size } = encode(text, { ecc: 'L', border: QUIET_ZONE })
  if (size > width) return { needs: size }
  const isDrawn = (row: number, column: number): boolean => (data[row]?.[column] ?? false) === isColoured
  const lines = Array.from({ length: Math.ceil(size / 2) }, (_line, line) =>
    Array.from({ length: size }, (_column, column) =>
      halfBlock(isDrawn(2 * line, column), isDrawn(2 * line + 1, column)),
    ).join(''),
  )
  return { lines }
}

function halfBlock(top: boolean, bottom: boolean): string {
  if (top) return bottom ? '█' : '▀'
  return bottom ? '▄' : ' '
}

/** Prints the code of an address with the address below it; in a terminal that is too narrow, the address alone. */
export async function printQr({ io, print, note }: Terminal, url: string): Promise<void> {
  const isColoured = print.paint('bold', '') !== ''
  const code = await qrCode(url, { width: print.width, isColoured })
  if ('needs' in code) note(`The QR code needs a terminal of ${code.needs} columns: the address is below.`)
  const lines = 'needs' in code ? [] : code.lines.map((line) => print.paint(['black', 'bgWhiteBright'], line))
  io.stdout.write(`\n${[...lines, url].join('\n')}\n`)
}
