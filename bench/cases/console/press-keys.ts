import { setTimeout as delay } from 'node:timers/promises'
import type { Opened } from '../../../test/support/terminal.ts'
import type { PaymentCreator } from './creator.ts'

const PRESS_EVERY_MS = 150

/**
 * The time from each key to its frame, and the echo time of a bare terminal, in milliseconds. `stale` counts frames.
 */
export type KeyTimings = { waits: { key: string; ms: number }[]; echoes: number[]; ages: number[]; stale: number }

/** The sequence of keys, and what the screen shows after each. */
const TURN: readonly { key: string; shows: (before: string) => (text: string) => boolean }[] = [
  // The first step stops following the newest row; from then on only keys lead to another row.
  { key: 'j', shows: () => (text) => placeOf(text) > 1 },
  ...['j', 'j', 'j', 'k', 'k'].map((key) => ({
    key,
    shows: (before: string) => (text: string) => selectedOf(text) !== selectedOf(before),
  })),
  { key: 'g', shows: () => (text) => placeOf(text) === 1 },
  { key: '?', shows: () => (text) => text.includes('Keys of Payments') },
  { key: 'q', shows: () => (text) => !text.includes('Keys of Payments') },
  { key: '1', shows: () => (text) => text.includes('[1 Overview]') },
  { key: '4', shows: () => (text) => text.includes('[4 Payments]') },
]

function placeOf(text: string): number {
  return Number(/ Payments (\d+)\//.exec(text)?.[1])
}

/** The id in the selected row, whether or not it is marked or new. */
function selectedOf(text: string): string | undefined {
  return /^>[ *+](\w+)/m.exec(text)?.[1]
}

/** Presses one key after the other, while payments are created. */
export async function pressKeys(
  { console, echo }: Record<'console' | 'echo', Opened>,
  created: PaymentCreator,
): Promise<KeyTimings> {
  const pressed: KeyTimings = { waits: [], echoes: [], ages: [], stale: 0 }
  // With only one row, no key leads to another.
  await console.until(/ Payments 1\/\d\d/)
  for (let n = 0; !created.isDone(); n += 1) {
    const turn = TURN[n % TURN.length]
    if (turn === undefined) break
    const before = console.text()
    if (/ stale| Error /.test(before)) pressed.stale += 1
    // After moving, the screen keeps the rows of that moment.
    const shown = placeOf(before) === 1 ? newestShown(before, created) : undefined
    if (shown !== undefined) pressed.ages.push(performance.now() - shown)
    const shows = turn.shows(before)
    const sent = performance.now()
    console.press(turn.key)
    while (!shows(console.text())) {
      if (performance.now() - sent > 10_000) throw new Error(`${turn.key} did nothing:\n${console.text()}`)
      await delay(1)
    }
    pressed.waits.push({ key: turn.key, ms: performance.now() - sent })
    pressed.echoes.push(await echoed(echo, n))
    await delay(PRESS_EVERY_MS)
  }
  return pressed
}

const QUIET_TURNS = 30

/** The time from each key to its frame while nothing else happens. */
export async function pressQuietly(console: Opened): Promise<number[]> {
  const waits: number[] = []
  const turns = TURN.filter(({ key }) => ['?', 'q', '1', '4'].includes(key))
  for (const { key, shows } of Array.from({ length: QUIET_TURNS }, () => turns).flat()) {
    const isShown = shows(console.text())
    const sent = performance.now()
    console.press(key)
    while (!isShown(console.text())) {
      if (performance.now() - sent > 10_000) throw new Error(`${key} did nothing:\n${console.text()}`)
      await delay(1)
    }
    waits.push(performance.now() - sent)
    await delay(20)
  }
  return waits
}

/** The round-trip time of a line through a program that only echoes it. */
async function echoed(echo: Opened, n: number): Promise<number> {
  const sent = performance.now()
  echo.type(`${n}\r`)
  // Once as it is typed, by the terminal, and once by the program.
  while ((echo.text().match(new RegExp(`^${n}$`, 'gm')) ?? []).length < 2) await delay(1)
  return performance.now() - sent
}

/** When the newest payment of the screen was created; undefined where the screen shows none. */
function newestShown(text: string, created: PaymentCreator): number | undefined {
  const times = text.split('\n').flatMap((line) => created.at(/[0-9a-f]{8}(?= )/.exec(line)?.[0] ?? '') ?? [])
  return times.length === 0 ? undefined : Math.max(...times)
}
