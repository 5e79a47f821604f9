import { Box } from 'ink'
import { screensOf } from '../model/state.ts'
import type { ReactElement } from 'react'
import { roleText } from '../../base/role-text.ts'
import { printable } from '../../base/text.ts'
import type { Console } from '../console.ts'
import { cutTo, lineWidth } from '../lines.ts'
import type { Line, Span } from '../lines.ts'
import { spanText } from '../../base/ages.ts'
import type { State } from '../model/state.ts'
import type { Screen } from '../screen.ts'
import type { ConsoleView } from '../view-model.ts'
import { TextLine } from './text-line.tsx'

/** What has waited longer than this is old, whatever the stream says: an answer takes less. */
const OLD_MS = 5_000

/** How fresh the picture is, in words: the rows of this screen, where they are older than what was answered last. */
export function linkText(
  { link, paused, answered, signedOut, now }: State,
  { readAt, dueSince = now }: Partial<ConsoleView['age']> = {},
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
  const { profile, isBoth, rights } = console.state().session
  const { who } = rights
  const name = printable(who.merchant?.trading_name ?? who.realm ?? 'platform')
  // With both identities, the one in use is named.
  const half = isBoth === true ? `${who.kind === 'platform' ? 'operator' : 'merchant'} ` : ''
  const role = `${half}${roleText(who.role)}`
  const place: Span = { text: ` ${name}`, tone: 'bold' }
  const known: Line = profile === '' || [who.name, name].includes(profile) ? [] : [{ text: ` (${profile})` }]
  const forms: Line[] = [
    [{ text: ' svc ', tone: 'bold' }, place, ...known, { text: `  ${who.name} ${role}`, tone: 'dim' }],
    [place, ...known, { text: `  ${role}`, tone: 'dim' }],
    [place, { text: `  ${role}` }],
  ]
  const fitting = forms.find((each) => lineWidth(each) <= room)
  if (fitting !== undefined) return fitting
  return [...cutTo([place], Math.max(NAME_LEAST, room - role.length - 2)), { text: ` ${role}` }]
}

/** The screens by their numbers and names; where there is little room by shorter ones, or by numbers alone. */
export function tabsLine(screens: readonly Screen[], present: string, width: number): Line {
  const here = screens.find(({ name }) => name === present)?.key
  const tabs = screens.filter(({ key }, index) => screens.findIndex((each) => each.key === key) === index)
  const nameOf = ({ group, title }: Screen): string => group ?? title
  const lineOf = (titleOf: (screen: Screen) => string): Line =>
    tabs.flatMap((screen): Span[] => {
      const isPresent = screen.key === here
      const text = `${screen.key} ${(isPresent ? nameOf : titleOf)(screen)}`.trim()
      return [{ text: ' ' }, isPresent ? { text: `[${text}]`, tone: 'bold' } : { text, tone: 'dim' }]
    })
  const forms = [lineOf(nameOf), lineOf(({ short }) => short)]
  return forms.find((each) => lineWidth(each) <= width - 1) ?? lineOf(() => '')
}

export function Header({ console, width }: { console: Console; width: number }): ReactElement {
  return (
    <Box flexDirection="column" flexShrink={0}>
      <TextLine parts={headerLine(console, width)} />
      <TextLine parts={tabsLine(screensOf(console.state()), console.seen().screen.name, width)} />
    </Box>
  )
}
