import type { Command } from 'commander'
import { z } from 'zod'
import { LIMIT } from '../client/pages.ts'

export const Paging = z.object({
  limit: z.string().regex(LIMIT, 'must be a number from 1 to 100'),
  cursor: z.string().optional(),
  all: z.boolean().default(false),
})
export type Paging = z.infer<typeof Paging>

/** The options of every list that comes in pages. */
export function paged(command: Command): Command {
  return command
    .optionsGroup('Paging:')
    .option('--limit <count>', 'Number of results per page, 1 to 100', '50')
    .option('--cursor <cursor>', 'Continue from this cursor of the previous page')
    .option('--all', 'Fetch all pages')
}
