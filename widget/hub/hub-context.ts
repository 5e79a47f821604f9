import type { Child } from '../dom.ts'
import type { DisputeReason } from '../../src/wire/dispute-fields.ts'
import type { Api } from './api.ts'
import type { Format } from './format.ts'
import type { Route } from './routes.ts'
import type { SessionStore } from './session.ts'
import type { Texts } from './language.ts'

/** An unsent dispute. */
export type Draft = { reason: DisputeReason | undefined; statement: string }

/** A view on the page, filled when its data arrives unless the payer has moved on. */
export type Stage = {
  /** Replaces the content under the heading. */
  fill(...content: readonly (Child | readonly Child[])[]): void
  /** Whether this view is still shown. */
  isCurrent(): boolean
}

/** The context of all views of the hub. */
export type Hub = {
  texts: Texts
  format: Format
  api: Api
  session: SessionStore
  /** Unsent disputes by payment, kept in memory and deleted at sign-out. */
  drafts: Map<string, Draft>
  /** The previous route, to return to the same row. */
  cameFrom: () => Route | undefined
  /** Starts a view: its heading gets the focus and its title becomes the window's title. */
  show(title: string, ...content: readonly (Child | readonly Child[])[]): Stage
  /** Announces text to screen readers. */
  announce(text: string): void
  /** Moves on from a completed view and replaces it in the history; the next view shows `notice`. */
  go(route: Route, notice?: string): void
  /** Shows the current URL's view again. */
  again(): void
  /** Shows the first view after signing in. */
  signedIn(): void
  /** Deletes the session and shows the sign-in with the reason. */
  signedOut(why: 'ended' | 'by-choice'): void
}
