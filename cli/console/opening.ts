import { exitOfSignal } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'
import { printable } from '../base/text.ts'
import { onStopSignals } from '../base/signals.ts'

/** What is to be seen before the console can draw. `close` takes it away; a second time it does nothing. */
export type Opening = { close(): void }

/** A key that was pressed before anybody could keep it from being echoed is taken away first. */
const ENTER = '\r\u001b[2K\u001b[?1049h\u001b[2J\u001b[H\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'

/** Shows at once what is going on, with nothing loaded that draws. Whatever ends the process gives the terminal back. */
export function showOpening(io: Io, text: string): Opening {
  const isSpoken = io.env['INK_SCREEN_READER'] === 'true'
  const shown = printable(` svc  ${text}`).slice(0, Math.max(0, io.stdout.columns - 1))
  io.stdout.write(isSpoken ? `${shown.trim()}\n` : `${ENTER}${shown}\r\n\r\n ctrl-c leaves`)
  let isOpen = true

  function close(): void {
    if (!isOpen) return
    isOpen = false
    removeHandlers()
    process.off('exit', close)
    if (!isSpoken) io.stdout.write(LEAVE)
  }

  const removeHandlers = onStopSignals((signal) => {
    close()
    process.exit(exitOfSignal(signal))
  })
  process.on('exit', close)
  return { close }
}
