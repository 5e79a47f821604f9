import { z } from 'zod'
import type { App } from '../app.ts'
import type { OperatorActionRecord } from '../audit/record.ts'

const Seeded = z.object({ key_id: z.string() })

/** Whether an audit entry shows that this user has the password derived from the current master key. */
export function isPasswordSeeded(
  app: Pick<App, 'sealer'>,
  entry: Pick<OperatorActionRecord, 'subject_id' | 'after'> | null,
  userId: string,
): boolean {
  if (entry?.subject_id !== userId) return false
  const seeded = Seeded.safeParse(entry.after)
  // Entries of older versions name no key, because there was only one.
  return seeded.success ? seeded.data.key_id === app.sealer.kid : !hasRotatedMasterKey(app)
}

/** Whether the master key was ever rotated. */
export function hasRotatedMasterKey({ sealer }: Pick<App, 'sealer'>): boolean {
  return sealer.previousKids.length > 0
}
