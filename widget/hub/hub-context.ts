import type { Child } from '../dom.ts'
import type { DisputeReason } from '../../src/wire/disputes.ts'
import type { Api } from './api.ts'
import type { Format } from './format.ts'
import type { Route } from './routes.ts'
import type { SessionStore } from './session.ts'
import type { Texts } from './texts.ts'

/** A dispute that is being written. */
export type Draft = { reason: DisputeReason | undefined; statement: string }

/** A view on the page. It is filled when its data has come, unless the payer has gone on by then. */
export type Stage = {
  /** Puts content under the heading, in place of what is there. */
  fill(...content: readonly (Child | readonly Child[])[]): void
  /** Whether this view is still the one that is seen. */
  isCurrent(): boolean
}

/** What every view of the hub is given. */
export type Hub = {
  texts: Texts
  format: Format
  api: Api
  session: SessionStore
  /** Words of disputes that were not sent yet, by payment; in memory alone, and gone with the session's sign-out. */
  drafts: Map<string, Draft>
  /** Where the payer was before, for coming back to the same row. */
  cameFrom: () => Route | undefined
  /** Begins a view: its heading takes the focus, and its name becomes the window's title. */
  show(title: string, ...content: readonly (Child | readonly Child[])[]): Stage
  /** Tells those who don't see the page. */
  announce(text: string): void
  /** Goes on from a view that has done its work, and whose place in the history the next one takes; that says `notice`. */
  go(route: Route, notice?: string): void
  /** Shows the view of the address again. */
  again(): void
  /** Takes over a session and shows what it opens. */
  signedIn(): void
  /** Forgets the session and asks to sign in, saying why. */
  signedOut(why: 'ended' | 'by-choice'): void
}
