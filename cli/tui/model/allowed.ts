import { MERCHANT_ROLES, PLATFORM_ROLES, permissionsOf } from '../../../src/lib/permissions.ts'
import type { Role } from '../../../src/lib/permissions.ts'
import type { Who } from '../../auth/who-is.ts'
import { roleText } from '../../role-text.ts'
import type { Screen, ScreenKey } from '../screen.ts'

/** What the console may show and do, for whoever has opened it. */
export type Rights = { who: Who; readonly: boolean; sandbox: boolean }

/** The screens that this caller can read, in their order: no others are shown. */
export function shownScreens(screens: readonly Screen[], { who, sandbox }: Rights): Screen[] {
  return screens.filter(
    ({ reads, sandboxOnly }) =>
      (sandboxOnly !== true || sandbox) && reads.some((permission) => who.permissions.includes(permission)),
  )
}

/** Whose a screen is that this caller has not, and how to get there: in one line. */
export function whyHidden({ title, reads, sandboxOnly }: Screen, { who, sandbox }: Rights): string {
  if (sandboxOnly === true && !sandbox) return `${title} is there in a sandbox only, and this is live`
  const ofKind: readonly Role[] = who.kind === 'merchant' ? MERCHANT_ROLES : PLATFORM_ROLES
  const roles = ofKind.filter((role) => reads.some((permission) => permissionsOf(role).includes(permission)))
  const [first] = roles
  if (first === undefined)
    return who.kind === 'merchant' ? `${title} is for operators: :operator` : `${title} is for merchants: :merchant`
  const whose = roles.length === 1 ? `${/^[AEIO]/.test(first) ? 'an' : 'a'} ${first}'s` : `for ${roles.join(', ')}`
  return `${title} is ${whose}, and you are ${roleText(who.role)}`
}

/** Whether the caller may use a key at all; one that it may not use is not shown, and does nothing. */
export function mayUse(
  { writes, permission, for: kind }: Pick<ScreenKey<unknown>, 'writes' | 'permission' | 'for'>,
  { who, readonly }: Rights,
): boolean {
  if (writes === true && readonly) return false
  if (kind !== undefined && kind !== who.kind) return false
  return permission === undefined || who.permissions.includes(permission)
}

/** The keys of a screen that do something where the user is: on the list or in detail, with this row or without one. */
export function usableKeys(
  screen: Screen,
  rights: Rights,
  { on, row }: { on: 'list' | 'detail'; row: unknown },
): ScreenKey<unknown>[] {
  return screen.keys.filter((key) => {
    if (!mayUse(key, rights) || (key.on !== undefined && key.on !== on)) return false
    if (key.needs === 'nothing') return true
    return row !== undefined && key.fits?.(row) !== false
  })
}

/** Whether anything can be done to many rows at once: without that, marks would mean nothing. */
export function canMark(screen: Screen, rights: Rights): boolean {
  return screen.keys.some((key) => key.needs === undefined && key.writes === true && mayUse(key, rights))
}
