import { qrCode } from './qr-code.ts'

/** The quiet zone that readers need around the code, in modules (ISO/IEC 18004). */
const QUIET = 4
/** Pixels of the canvas for a module: more than a screen shows, so that the edges stay sharp. */
const SCALE = 8

/** Draws an address as a QR code: dark on white in every theme, for many readers know nothing else. */
export function drawQr(canvas: HTMLCanvasElement, address: string): void {
  const modules = qrCode(address)
  canvas.width = canvas.height = (modules.length + 2 * QUIET) * SCALE
  const context = canvas.getContext('2d')
  if (context === null) return
  context.fillStyle = '#fff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.fillStyle = '#000'
  modules.forEach((row, y) =>
    row.forEach((isDark, x) => {
      if (isDark) context.fillRect((x + QUIET) * SCALE, (y + QUIET) * SCALE, SCALE, SCALE)
    }),
  )
}
