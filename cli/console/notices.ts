import type { Feed } from './model/cache.ts'
import { EMPTY_LINE, line, paragraphOf } from './lines.ts'
import type { Line, Tone } from './lines.ts'
import { spanText } from '../base/ages.ts'
import type { State } from './model/state.ts'

const LINES_MAX = 3

/** What has happened, or what is wrong, and what to try: all that is told above the footer. */
type News = { text: string; tries: string; tone: Tone | undefined }

type Told = { state: State; feed: Feed; opened: { row: unknown; feed: Feed } | undefined }

function newsOf({ state, feed, opened }: Told): News | undefined {
  const { toast, signedOut, now } = state
  if (toast !== undefined) {
    const sign = { good: 'Done: ', bad: 'Error: ', info: '' }[toast.tone]
    return { ...parted(`${sign}${toast.text}`), tone: toast.tone }
  }
  if (signedOut) return { text: 'Signed out: svc login. L signs in from here.', tries: '', tone: 'bad' }
  const { failure } = opened?.feed.failure === undefined ? feed : opened.feed
  // What could not be opened is told of in its place.
  if (failure === undefined || (opened !== undefined && opened.row === undefined)) return undefined
  const { text, tries } = parted(`Error since ${spanText(now - failure.at)}: ${failure.text}`)
  const hint = failure.hint?.split('\n')[0]
  return { text, tries: tries === '' && hint !== undefined ? `Try: ${hint}` : tries, tone: 'bad' }
}

function parted(text: string): Pick<News, 'text' | 'tries'> {
  const lines = text.split('\n')
  const at = lines.findIndex((each) => each.startsWith('Try: '))
  if (at === -1) return { text: lines.join('  '), tries: '' }
  return { text: lines.slice(0, at).join('  '), tries: lines.slice(at).join('  ') }
}

/** The lines of news, as many as they need and at most three. What to try has lines of its own where one is too little. */
export function newsLines(told: Told, width: number): readonly Line[] {
  const news = told.state.bar === undefined ? newsOf(told) : undefined
  if (news === undefined) return [EMPTY_LINE]
  const { text, tries, tone } = news
  const room = width - 1
  const inOne = paragraphOf(`${text}  ${tries}`.trim(), { width: room, most: LINES_MAX })
  const below = tries === '' || inOne.length === 1 ? [] : paragraphOf(tries, { width: room, most: LINES_MAX - 1 })
  const lines =
    below.length === 0 ? inOne : [...paragraphOf(text, { width: room, most: LINES_MAX - below.length }), ...below]
  return lines.map((each) => line(` ${each}`, tone))
}
