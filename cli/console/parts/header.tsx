import { Box } from 'ink'
import { screensOf } from '../model/state.ts'
import type { ReactElement } from 'react'
import { roleText } from '../../base/role-text.ts'
import { printable } from '../../base/text.ts'
import type { Console } from '../console.ts'
import { cutTo, lineWidth } from '../lines.ts'
import type { Line, Span } from '../lines.ts'
import { spanText } from '../model/ages.ts'
import type { State } from '../model/state.ts'
import type { Screen } from '../screen.ts'
import type { Seen } from '../view-model.ts'
import { TextLine } from './text-line.tsx'

/** What waits for longer to be read is old, whatever the stream tells: an answer takes less. */
const OLD_MS = 5_000

/** How fresh the picture is, in words: the rows of this screen, where they are older than what was answered last. */
export function linkText(
  { link, paused, answered, signedOut, now }: State,
  { readAt, dueSince = now }: Partial<Seen['age']> = {},
): Span {
  const isOld = readAt !== undefined && now - dueSince >= OLD_MS
  const at = isOld ? readAt : answered?.at
  const age = at === undefined ? '' : ` ${spanText(now - at)}`
  if (signedOut) return { text: 'signed out', tone: 'bad' }
  if (paused) return { text: `paused${age}`, tone: 'warn' }
  if (link.state === 'live' && !isOld) return { text: 'fresh', tone: 'good' }
  if (link.state === 'connecting' && answered !== undefined && now - link.since < 2_000)
    return { text: 'connecting', tone: 'dim' }
  return { text: `stale${age}`, tone: 'warn' }
}

/** An answer takes some milliseconds more or less: what stands before it keeps its place. */
const LATENCY_WIDTH = 3

/** How much of a name is worth showing. */
const NAME_LEAST = 6

/**
 * Who works where, and how: the first line. Role, mode, latency and how fresh the picture is are always there; where
 * there is little room the others go, and at last the name is cut. The words of live mode need no colour.
 */
function headerLine(console: Console, width: number): Line {
  const { sandbox, readonly } = console.state().session.rights
  const state = console.state()
  const mode: Span = sandbox ? { text: ' SANDBOX ', tone: 'info' } : { text: ' *** LIVE *** ', tone: 'live' }
  const latency = state.answered === undefined ? '' : ` ${String(state.answered.latencyMs).padStart(LATENCY_WIDTH)} ms`
  const right: Line = [
    ...(readonly ? [{ text: ' read-only', tone: 'warn' as const }] : []),
    { text: ' ' },
    mode,
    { text: latency, tone: 'dim' },
    { text: '  ' },
    linkText(state, console.seen().age),
    { text: ' ' },
  ]
  const room = Math.max(0, width - lineWidth(right))
  const shown = cutTo(placeLine(console, room - 1), Math.max(0, room - 1))
  return [...shown, { text: ' '.repeat(Math.max(0, room - lineWidth(shown))) }, ...right]
}

/** Whose payments these are, and who looks at them, in so much room. */
function placeLine(console: Console, room: number): Line {
  const { who } = console.state().session.rights
  const name = printable(who.merchant?.trading_name ?? who.realm ?? 'platform')
  const role = roleText(who.role)
  const isNamed = console.state().session.profile !== '' && ![who.name, name].includes(console.state().session.profile)
  const place: Span = { text: ` ${name}`, tone: 'bold' }
  const profile: Line = isNamed ? [{ text: ` (${console.state().session.profile})` }] : []
  // Whoever is both is told which of the two.
  const half = who.kind === 'platform' ? 'operator' : 'merchant'
  const halves: Line[] =
    console.state().session.isBoth === true
      ? [
          [{ text: ' svc ', tone: 'bold' }, place, ...profile, { text: `  ${who.name} ${half} ${role}`, tone: 'dim' }],
          [place, ...profile, { text: `  ${half} ${role}`, tone: 'dim' }],
          [place, { text: `  ${half} ${role}` }],
        ]
      : []
  const forms: Line[] = [
    ...halves,
    [{ text: ' svc ', tone: 'bold' }, place, ...profile, { text: `  ${who.name} ${role}`, tone: 'dim' }],
    [place, ...profile, { text: `  ${who.name} ${role}`, tone: 'dim' }],
    [place, ...profile, { text: `  ${role}` }],
    [place, { text: `  ${role}` }],
  ]
  const fitting = forms.find((each) => lineWidth(each) <= room)
  if (fitting !== undefined) return fitting
  const left = Math.max(NAME_LEAST, room - role.length - 2)
  return [...cutTo([place], left), { text: ` ${role}` }]
}

/**
 * The screens by their numbers and names. Where there is little room, names become shorter one by one, those first that
 * gain most; then the last ones lose theirs. The present one keeps its own.
 */
export function tabsLine(screens: readonly Screen[], present: string, width: number): Line {
  const names = new Map(screens.map(({ name, title }) => [name, title]))
  const lineOf = (): Line =>
    screens.flatMap((screen, index): Span[] => {
      const text = [screen.key, names.get(screen.name) ?? ''].filter((each) => each !== '').join(' ')
      const gap: Span = { text: index === 0 ? '' : ' ' }
      // Brackets say without colour which one it is.
      return screen.name === present ? [gap, { text: `[${text}]`, tone: 'selected' }] : [gap, { text, tone: 'dim' }]
    })
  const others = screens.filter(({ name }) => name !== present)
  const gain = ({ title, short }: Screen): number => title.length - short.length
  const steps = [
    ...others
      .toReversed()
      .filter((each) => gain(each) > 0)
      .toSorted((a, b) => gain(b) - gain(a))
      .map(({ name, short }) => [name, short] as const),
    ...others.toReversed().map(({ name }) => [name, ''] as const),
  ]
  for (const [name, text] of steps) {
    if (lineWidth(lineOf()) <= width - 2) break
    names.set(name, text)
  }
  return [{ text: ' ' }, ...lineOf()]
}

export function Header({ console, width }: { console: Console; width: number }): ReactElement {
  return (
    <Box flexDirection="column" flexShrink={0}>
      <TextLine parts={headerLine(console, width)} />
      <TextLine parts={tabsLine(screensOf(console.state()), console.seen().screen.name, width)} />
    </Box>
  )
}
