import { maskFreeText } from '../lib/mask.ts'
import type { Permission } from '../lib/permissions.ts'

/** The caller, on whom depends what is shown and which commands are suggested. */
export type Viewer = {
  side: 'merchant' | 'operator'
  /** The only merchant whose records there are; undefined for operators, who see all. */
  merchantId: string | undefined
  can(permission: Permission): boolean
}

/** Whether the viewer may see webhooks: operators, and merchant roles that manage them (decisions 30 and 31). */
export function canSeeWebhooks({ side, can }: Viewer): boolean {
  return side === 'operator' || can('manage webhooks')
}

/** Whether the viewer may see settlements and payouts. */
export function canSeeMoney({ side, can }: Viewer): boolean {
  return side === 'operator' || can('read balances')
}

/** Free text, with the numbers of phones and accounts masked for operators who may only read. */
export function wordsFor({ side, can }: Viewer, text: string): string {
  return side === 'operator' && !can('operate merchants') ? maskFreeText(text) : text
}
