import { newsOf } from './shots.ts'
import type { Shot } from './shots.ts'
import type { View, ViewOptions } from './screen.ts'

/** What stands where nothing can be drawn anew: rows that are new or have changed, one after the other. */
export function makeStream({ io, print, note }: ViewOptions): View {
  let before: readonly Shot[] | undefined
  let isLost = false

  function printRows(shot: Shot, keys: ReadonlySet<string>): void {
    if (keys.size === 0) return
    if (print.mode === 'jsonl') return shot.printItems(keys)
    const lines = shot.rows.filter(({ key }) => keys.has(key)).flatMap((row) => row.lines)
    io.stdout.write(`${[...(before === undefined ? shot.header : []), ...lines].join('\n')}\n`)
  }

  return {
    width: print.width,
    show({ shots, notes }) {
      if (isLost) note('The service is back.')
      isLost = false
      const news = newsOf(before, shots)
      for (const [at, shot] of shots.entries()) {
        const all = before === undefined ? shot.rows.map(({ key }) => key) : news[at]?.keys()
        printRows(shot, new Set(all))
      }
      if (before === undefined) for (const text of notes) note(text)
      before = shots
    },
    lost(why) {
      if (!isLost) note(`${why}; waiting for it`)
      isLost = true
    },
  }
}
