import type { Need } from './model/cache.ts'
import { screenOf, viewOf } from './model/state.ts'
import type { State } from './model/state.ts'
import type { View } from './model/view.ts'
import type { Screen } from './screen.ts'

/** What the screen needs to be read: its list, and what is open in it. */
export function needsOf(state: State): Need[] {
  const screen = screenOf(state)
  const view = viewOf(state, screen.name)
  const filter = serviceFilter(screen, view)
  const list: Need = { key: listKey(screen, view), screen, arg: '', filter }
  // What was found before the service was asked stays, and fresh: what it finds comes to that.
  const lists = filter === '' ? [list] : [list, { key: baseKey(screen), screen, arg: '', filter: '' }]
  if (screen.detail === undefined || view.open === undefined) return lists
  const { id } = view.open
  return [...lists, { key: detailKey(screen, id), screen, arg: id, filter: '' }]
}

/** The part of the filter that the service is asked for. */
export function serviceFilter(screen: Screen, { asked }: View): string {
  return screen.serviceFilter?.(asked) ?? ''
}

export function listKey(screen: Screen, view: View): string {
  return `${screen.name}?${serviceFilter(screen, view)}`
}

/** The list as nobody has filtered it. */
export function baseKey({ name }: Screen): string {
  return `${name}?`
}

export function detailKey({ name }: Screen, id: string): string {
  return `${name}/${id}`
}
