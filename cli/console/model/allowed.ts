import { MERCHANT_ROLES, PLATFORM_ROLES, permissionsOf } from '../../../src/lib/permissions.ts'
import type { Role } from '../../../src/lib/permissions.ts'
import type { Who } from '../../client/auth/acting-side.ts'
import { roleText } from '../../base/role-text.ts'
import type { Screen, ScreenKey, ListView } from '../screen.ts'

export type Rights = { who: Who; readonly: boolean; sandbox: boolean }

/** The screens that this caller can read, in their order: no others are shown. */
export function shownScreens(screens: readonly Screen[], { who, sandbox }: Rights): Screen[] {
  return screens.filter(
    ({ reads, sandboxOnly }) =>
      (sandboxOnly !== true || sandbox) && reads.some((permission) => who.permissions.includes(permission)),
  )
}

export function whyHidden({ title, reads, sandboxOnly }: Screen, { who, sandbox }: Rights): string {
  if (sandboxOnly === true && !sandbox) return `${title} is there in a sandbox only, and this is live`
  const ofKind: readonly Role[] = who.kind === 'merchant' ? MERCHANT_ROLES : PLATFORM_ROLES
  const roles = ofKind.filter((role) => reads.some((permission) => permissionsOf(role).includes(permission)))
  const [first] = roles
  if (first === undefined)
    return who.kind === 'merchant'
      ? `${title} is for operators: :as operator`
      : `${title} is for merchants: :as merchant`
  const whose = roles.length === 1 ? `${/^[AEIO]/.test(first) ? 'an' : 'a'} ${first}'s` : `for ${roles.join(', ')}`
  return `${title} is ${whose}, and you are ${roleText(who.role)}`
}

export function mayUse(
  { writes, permission, lacks, for: kind }: Pick<ScreenKey<unknown>, 'writes' | 'permission' | 'lacks' | 'for'>,
  { who, readonly }: Rights,
): boolean {
  if (writes === true && readonly) return false
  if (kind !== undefined && kind !== who.kind) return false
  if (lacks !== undefined && who.permissions.includes(lacks)) return false
  return permission === undefined || who.permissions.includes(permission)
}

/** Where the user is: on the list or in detail, with this row or without one, these rows marked, and this shown. */
export type Where = { on: 'list' | 'detail'; row: unknown; marked?: readonly unknown[]; shown?: ListView<unknown> }

export function fitsRow({ fits }: Pick<ScreenKey<unknown>, 'fits'>, row: unknown): boolean {
  return row !== undefined && fits?.(row) !== false
}

/**
 * The keys of a screen that do something where the user is. With marks, a key that many rows can be done with needs one
 * of them that it fits, whatever row is selected; of two on one letter it is the one for the selected row, or the first.
 */
export function usableKeys(
  screen: Screen,
  rights: Rights,
  { on, row, marked = [], shown }: Where,
): ScreenKey<unknown>[] {
  const ofMany = (key: ScreenKey<unknown>): boolean => marked.length > 0 && key.needs === undefined
  const usable = keysHere(screen, rights, on).filter((key) => {
    if (key.counted !== undefined && shown !== undefined && !key.counted.offered(shown)) return false
    if (key.needs === 'nothing') return true
    return ofMany(key) ? marked.some((each) => fitsRow(key, each)) : fitsRow(key, row)
  })
  return usable.filter((key) => {
    const rivals = usable.filter((each) => each.key === key.key)
    return !rivals.some(ofMany) || key === (rivals.find((each) => fitsRow(each, row)) ?? rivals[0])
  })
}

function keysHere(screen: Screen, rights: Rights, on: Where['on']): ScreenKey<unknown>[] {
  return screen.keys.filter((key) => mayUse(key, rights) && (key.on === undefined || key.on === on))
}

export function whyUnfit(
  screen: Screen,
  rights: Rights,
  { name, on, row, marked = [] }: Where & { name: string },
): string | undefined {
  const key = keysHere(screen, rights, on).find((each) => each.key === name)
  if (key === undefined) return undefined
  if (marked.length > 0 && key.needs === undefined)
    return `${key.label}: none of the ${marked.length} marked rows can be`
  return `${key.label}: ${row === undefined ? 'there is no row' : 'not as this one stands'}`
}

/** Whether anything can be done to many rows at once: without that, marks would mean nothing. */
export function canMark(screen: Screen, rights: Rights): boolean {
  return screen.keys.some((key) => key.needs === undefined && key.writes === true && mayUse(key, rights))
}
