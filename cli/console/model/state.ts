import type { Client } from '../../client/call.ts'
import type { ScreenName } from '../screen-names.ts'
import type { Kept, Screen, ScreenKey } from '../screen.ts'
import type { Who } from '../../client/auth/acting-side.ts'
import { shownScreens } from './allowed.ts'
import type { Rights } from './allowed.ts'
import { NO_CACHE } from './cache.ts'
import type { Cache } from './cache.ts'
import type { Edit } from './edit.ts'
import type { Modal } from './modal.ts'
import { NEW_VIEW } from './view.ts'
import type { View } from './view.ts'

/** How the stream of events is: it brings changes, it is being opened, or it is gone since a moment. */
export type Link = { state: 'live' | 'connecting' | 'lost'; since: number }

export type Toast = { text: string; tone: 'good' | 'bad' | 'info' }

export type Bar = {
  kind: 'filter' | 'command'
  edit: Edit
}

/** What a key of a screen has been pressed for: the rows as they were then, whatever comes in the meantime. */
export type Pending = {
  screen: Screen
  key: ScreenKey<unknown>
  rows: readonly unknown[]
  /** Of marked ones, how many there are: those it can't be done to are left out. */
  marked?: number
  /** Who asked, and of which service: rows of one are no matter of another profile. */
  by: { client: Client; who: Who }
  /** The idempotency keys of the rows, by their ids: the same at every attempt. */
  attempts: Readonly<Record<string, string>>
}

/** What is being done right now, in words, and to which row; and how many of all were tried before. */
export type UnderWay = {
  what: string
  row: string
  done: number
  failed: number
  total: number
  /** Whether it changes something: what only reads leaves nothing open. */
  isWrite: boolean
  since?: number
}

export type Finished = {
  screen: ScreenName
  total: number
  /** What is said of those it was done to, and which they are. */
  done: readonly string[]
  doneIds: readonly string[]
  /** What went wrong, in words; `fields` is what the service has named. */
  failed: readonly { id: string; text: string; fields: readonly string[] }[]
  isSignedOut: boolean
  wantsFactor: boolean
}

export type Session = { client: Client; rights: Rights; profile: string; isBoth?: boolean }

/** All that the console knows. What is on the screen is made of this alone. */
export type State = {
  /** All screens, also those that this role does not see. */
  screens: readonly Screen[]
  session: Session
  cache: Cache
  pending: Pending | undefined
  underWay: UnderWay | undefined
  kept: Kept
  size: { columns: number; rows: number }
  screen: ScreenName
  before: readonly ScreenName[]
  views: Readonly<Partial<Record<ScreenName, View>>>
  bar: Bar | undefined
  modal: Modal | undefined
  paused: boolean
  link: Link
  answered: { at: number; latencyMs: number } | undefined
  toast: Toast | undefined
  toastUntil: number | undefined
  /** Whether the service has stopped taking who we are. */
  signedOut: boolean
  /** Whether a change was rejected for want of a new sign-in with a second factor. */
  wantsFactor: boolean
  /** What time it is for ages, in milliseconds; it moves once a second at most. */
  now: number
}

type FirstState = Pick<State, 'screens' | 'session' | 'screen' | 'now'>

export function firstState({ screens, session, screen, now }: FirstState): State {
  return {
    screens,
    session,
    cache: NO_CACHE,
    pending: undefined,
    underWay: undefined,
    kept: {},
    size: { columns: 80, rows: 24 },
    screen,
    before: [],
    views: {},
    bar: undefined,
    modal: undefined,
    paused: false,
    link: { state: 'connecting', since: now },
    answered: undefined,
    toast: undefined,
    toastUntil: undefined,
    signedOut: false,
    wantsFactor: false,
    now,
  }
}

/** What makes the next state of the present one; it reads, writes and waits for nothing. */
export type Change = (state: State) => State

export const FLASH_MS = 1_500

export function screensOf({ screens, session }: Pick<State, 'screens' | 'session'>): Screen[] {
  return shownScreens(screens, session.rights)
}

export function screenOf(state: State): Screen {
  const all = screensOf(state)
  const screen = all.find(({ name }) => name === state.screen) ?? all[0] ?? state.screens[0]
  if (screen === undefined) throw new Error('the console has no screens')
  return screen
}

export function viewOf(state: Pick<State, 'views' | 'screen'>, screen: ScreenName = state.screen): View {
  return state.views[screen] ?? NEW_VIEW
}

export function fadeTimes({ views, toastUntil }: State): number[] {
  const flashes = Object.values(views).flatMap(({ fresh, freshAt }) => (fresh.size === 0 ? [] : [freshAt + FLASH_MS]))
  return toastUntil === undefined ? flashes : [...flashes, toastUntil]
}
