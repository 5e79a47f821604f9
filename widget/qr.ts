import { qrCode } from '../src/lib/qr-code.ts'

/** The required quiet zone in modules (ISO/IEC 18004). */
const QUIET = 4
/** Canvas pixels per module, more than a screen shows, so that edges stay sharp. */
const SCALE = 8

/** Draws an address as a QR code, dark on white in every theme, because many readers need that. */
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
