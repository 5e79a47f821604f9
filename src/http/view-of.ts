import { maskPersonalData } from '../lib/mask.ts'
import { roleAllows } from '../lib/permissions.ts'
import type { PlatformPrincipal } from './principal.ts'

/**
 * What an operator may see of people: who may only read sees e-mail addresses masked in every text, and
 * numbers of phones and accounts where people speak for themselves (decisions 30 and 155).
 */
export function viewOf({ role }: PlatformPrincipal): <T>(body: T) => T {
  if (roleAllows(role, 'operate merchants')) return (body) => body
  // The same members with other texts, which the type can't show.
  return <T>(body: T) => maskPersonalData(body) as T
}
