import { maskFreeText } from '../lib/mask.ts'
import type { Permission } from '../lib/permissions.ts'

/** Who is told the story: it decides what is theirs to see, and which next steps are theirs to take. */
export type Viewer = {
  side: 'merchant' | 'operator'
  /** The only merchant whose things there are; undefined for operators, who see all. */
  merchantId: string | undefined
  can(permission: Permission): boolean
}

/** Who may see what became of webhooks: those who manage them, and operators (decisions 30 and 31). */
export function seesWebhooks({ side, can }: Viewer): boolean {
  return side === 'operator' || can('manage webhooks')
}

/** What people said in their own words: operators who may only read see numbers of phones and accounts masked in it. */
export function wordsFor({ side, can }: Viewer, text: string): string {
  return side === 'operator' && !can('operate merchants') ? maskFreeText(text) : text
}
