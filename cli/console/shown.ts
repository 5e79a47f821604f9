import { errorText } from './action-runner.ts'
import type { Acting } from './action-runner.ts'
import type { Console } from './console.ts'
import type { Toast } from './model/state.ts'
import type { ScreenKey, Shown, Tools } from './screen.ts'
import type { Seen } from './view-model.ts'

type Needs = { acting: Acting; tools: Tools; toast(toast: Toast): void }

/** What the list shows, for a key that is about all of it. */
export function shownOf({ view, rows, feed }: Pick<Seen, 'view' | 'rows' | 'feed'>): Shown<unknown> {
  return { filter: view.filter, rows, hasMore: feed.next !== null || feed.isNewestOnly }
}

/** Finds out what a key is about that is done to all that is shown, and asks about just that, if nobody has gone on. */
export async function startOfShown(
  console: Console,
  own: ScreenKey<unknown>,
  { acting, tools, toast }: Needs,
): Promise<void> {
  const { screen, row, view, ...seen } = console.seen()
  const { client } = tools
  toast({ text: `${own.label}: counting ...`, tone: 'info' })
  try {
    const made = await own.ofShown?.make(shownOf({ view, ...seen }), tools)
    const { modal, bar } = console.state()
    const now = console.seen()
    const isHere = modal === undefined && bar === undefined && now.screen === screen && now.opened === undefined
    if (!isHere || now.view.filter !== view.filter || tools.client !== client) return
    if (made === undefined) return
    if (typeof made === 'string') return toast({ text: made, tone: 'info' })
    console.change({ type: 'toast', toast: undefined })
    acting.start({ screen, key: made, rows: [row] })
  } catch (error) {
    if (tools.client === client) toast({ text: errorText(error), tone: 'bad' })
  }
}
