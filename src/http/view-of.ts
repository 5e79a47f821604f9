import { maskPersonalData } from '../lib/mask.ts'
import { roleAllows } from '../lib/permissions.ts'
import type { PlatformPrincipal } from './principal.ts'

/**
 * Masks personal data for operators who may only read: e-mail addresses in every text, and phone and account numbers in
 * texts that people wrote (decision 30).
 */
export function viewOf({ role }: PlatformPrincipal): <T>(body: T) => T {
  if (roleAllows(role, 'operate merchants')) return (body) => body
  // The same members with masked texts, which the type can't express.
  return <T>(body: T) => maskPersonalData(body) as T
}
