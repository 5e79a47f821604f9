import type { Need } from './cache-entry.ts'
import type { View } from './model/view.ts'
import type { Resource, Screen } from './screen.ts'

/** What a screen needs to be read: its list, and what is open in it. */
export function needsOf(screen: Screen, view: View): Need[] {
  const list: Need = {
    key: listKey(screen, view),
    resource: screen.list,
    id: screen.id,
    arg: '',
    filter: serviceFilter(screen, view),
    limit: screen.limit ?? 100,
    // Whoever has moved reads: the newest row is not followed then, and the rows stay where they are.
    holds: screen.follow === true && !view.follows,
  }
  // What was found before the service was asked stays, and fresh: what it finds comes to that.
  const lists = list.filter === '' ? [list] : [list, { ...list, key: baseKey(screen), filter: '' }]
  const { detail } = screen
  if (detail === undefined || view.open === undefined) return lists
  const one: Resource<unknown> = {
    isDirty: (hint, arg) => detail.resource.isDirty(hint, arg),
    ...(detail.resource.isOld === undefined ? {} : { isOld: detail.resource.isOld }),
    async read(reading) {
      return { rows: [await detail.resource.read(reading)], next: null }
    },
  }
  const whole: Need = {
    key: detailKey(screen, view.open.id),
    resource: one,
    id: (each) => screen.id(detail.row(each)),
    arg: view.open.id,
    filter: '',
    limit: 1,
    holds: false,
  }
  return [...lists, whole]
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
