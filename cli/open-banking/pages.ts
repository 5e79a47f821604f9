import type { Command } from 'commander'
import { z } from 'zod'
import type { Context } from '../kit/context.ts'

/** One page of a list of the Open Banking API (decision 7). */
export type ObPage<Row> = { Data: Row[]; Links: { Next?: string | undefined }; Meta: { TotalPages: number } }
export type ObReader<Row> = (query: { page: number; pageSize: number }) => Promise<ObPage<Row>>

export const PAGE_SIZE_MAX = 1_000
// A hundred thousand rows and more: nobody reads such a list.
const PAGES_MAX = 1_000
// How far back a short id is looked for.
const PART_PAGES_MAX = 10

const WHOLE = /^[1-9]\d{0,7}$/

export const ObPaging = z.object({
  page: z.string().regex(WHOLE, 'must be a whole number from 1'),
  pageSize: z
    .string()
    .refine((text) => WHOLE.test(text) && Number(text) >= 25 && Number(text) <= PAGE_SIZE_MAX, {
      error: `must be a whole number from 25 to ${PAGE_SIZE_MAX}`,
    })
    .optional(),
  all: z.boolean().default(false),
})
export type ObPaging = z.infer<typeof ObPaging>

/** The options of every list of the Open Banking API. */
export function obPaged(command: Command): Command {
  return command
    .optionsGroup('Paging:')
    .option('--page <number>', 'Page number, from 1', '1')
    .option('--page-size <count>', 'Number of results per page, 25 to 1000 (100)')
    .option('--all', 'Fetch this page and all that follow')
}

/** The page that a list begins with, the last one there is, and the one to go on with. */
export type Whereabouts = { first: number; last: number; next: number | undefined }

/**
 * What the paging options ask for. Rows that move to the next page while it is read, because newer ones have come, stand
 * in the result once.
 */
export async function collect<Row>(
  { page, pageSize, all }: ObPaging,
  id: (row: Row) => string,
  read: ObReader<Row>,
): Promise<{ items: Row[] } & Whereabouts> {
  const found = new Map<string, Row>()
  const first = Number(page)
  let next: number | undefined = first
  let last = 1
  const size = Number(pageSize ?? (all ? PAGE_SIZE_MAX : 100))
  for (let count = 0; next !== undefined && count < (all ? PAGES_MAX : 1); count += 1) {
    const body: ObPage<Row> = await read({ page: next, pageSize: size })
    for (const row of body.Data) found.set(id(row), row)
    next = nextPage(body)
    last = body.Meta.TotalPages
  }
  return { items: [...found.values()], first, last, next }
}

/** The page that `Next` names. Its host is the one that the service believes itself to be, and not always ours. */
function nextPage({ Links: { Next } }: ObPage<unknown>): number | undefined {
  const page = Next === undefined || !URL.canParse(Next) ? null : new URL(Next).searchParams.get('page')
  return page !== null && WHOLE.test(page) ? Number(page) : undefined
}

/** The ids of the newest rows, for finding the one that a part of it means. */
export async function* idsOf<Row>(read: ObReader<Row>, id: (row: Row) => string): AsyncGenerator<string> {
  let page: number | undefined = 1
  for (let count = 0; page !== undefined && count < PART_PAGES_MAX; count += 1) {
    const body: ObPage<Row> = await read({ page, pageSize: PAGE_SIZE_MAX })
    for (const row of body.Data) yield id(row)
    page = nextPage(body)
  }
}

/** Why there is nothing: no rows at all, or none so far back. */
export function emptyText(none: string, { first, last }: Whereabouts): string {
  return first > last ? `There are none on page ${first}: the last page is ${last}.` : none
}

export function tellMore({ note }: Context, { next }: Whereabouts): void {
  if (next !== undefined) note(`There are more: --page ${next}, or --all`)
}
