import { usageError } from '../base/errors.ts'
import { grouped } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'

/** One page of a list of the Open Banking API (decision 7). */
export type ObPage<Row> = { Data: Row[]; Links: { Next?: string | undefined }; Meta: { TotalPages: number } }
export type ObReader<Row> = (query: { page: number; pageSize: number }) => Promise<ObPage<Row>>

export const PAGE_SIZE_MAX = 1_000
// A hundred thousand rows: no list is read further.
const PAGES_MAX = 1_000
// How far back a short id is looked for.
const PART_PAGES_MAX = 10

const WHOLE = /^[1-9]\d{0,7}$/

function wholeFrom(least: number, most: number): (text: string) => string {
  return (text) => {
    if (WHOLE.test(text) && Number(text) >= least && Number(text) <= most) return text
    throw usageError(`must be a whole number from ${least}${most === PAGE_SIZE_MAX ? ` to ${most}` : ''}`)
  }
}

export const OB_PAGING = grouped('Paging:', {
  page: { value: 'number', summary: 'Page number, from 1', initial: '1', read: wholeFrom(1, 99_999_999) },
  pageSize: {
    value: 'count',
    summary: 'Number of results per page, 25 to 1000 (100)',
    read: wholeFrom(25, PAGE_SIZE_MAX),
  },
  all: { summary: 'Fetch this page and all that follow' },
})

/** The page that a list begins with, the last one there is, and the next one. */
type Whereabouts = { first: number; last: number; next: number | undefined }

/**
 * What the paging options ask for. Rows that move to the next page while it is read, because newer ones have come, stand
 * in the result once.
 */
export async function collect<Row>(
  { page, pageSize, all }: Input<typeof OB_PAGING>,
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

export async function* idsOf<Row>(read: ObReader<Row>, id: (row: Row) => string): AsyncGenerator<string> {
  let page: number | undefined = 1
  for (let count = 0; page !== undefined && count < PART_PAGES_MAX; count += 1) {
    const body: ObPage<Row> = await read({ page, pageSize: PAGE_SIZE_MAX })
    for (const row of body.Data) yield id(row)
    page = nextPage(body)
  }
}
