import { crc32, deflateSync } from 'node:zlib'

/** How many pixels, or units, a module of a code is wide. */
const MODULE = 8
const QUIET_ZONE = 4

/** A QR code as a picture: black on white, with the margin that the standard asks for. */
export async function qrPicture(text: string, format: 'svg' | 'png'): Promise<Buffer> {
  const { encode } = await import('uqr')
  const { data } = encode(text, { ecc: 'M', border: QUIET_ZONE })
  return format === 'svg' ? Buffer.from(svgOf(data)) : pngOf(data)
}

function svgOf(data: readonly (readonly boolean[])[]): string {
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  const side = data.length
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" width="${side * MODULE}" ` +
    `height="${side * MODULE}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/>` +
    `<path d="${dark.join('')}"/></svg>\n`
  )
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const BIT_DEPTH = 8

/** In shades of grey, one byte for each pixel; each line begins with the number of its filter, which is none. */
function pngOf(data: readonly (readonly boolean[])[]): Buffer {
  const side = data.length * MODULE
  const lines = data.flatMap((row) => {
    const pixels = row.flatMap((isDark) => Array<number>(MODULE).fill(isDark ? 0 : 255))
    return Array<Buffer>(MODULE).fill(Buffer.from([0, ...pixels]))
  })
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  header.writeUInt8(BIT_DEPTH, 8)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}
