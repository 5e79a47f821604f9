export type Page<Row> = { data: Row[]; has_more: boolean; next_cursor: string | null }

export const PAGE_SIZE_MAX = 100

// A hundred thousand rows, if all pages are full: beyond that an export is the right tool, not a list.
const PAGES_MAX = 1_000
// Some seconds of pages without a row, after which it is the user who decides to go on.
const SHORT_PAGES_MAX = 20

export const LIMIT = /^([1-9]\d?|100)$/

export type PageReader<Row> = (page: { limit: number; cursor?: string }) => Promise<Page<Row>>

/**
 * What the paging options of a list ask for: as many rows as a page has, or with `--all` every one, of as many pages as it
 * takes, because a page with a filter may be short. `nextCursor` is where it goes on.
 */
export async function collectPages<Row>(
  options: { limit: string; cursor?: string | undefined; all: boolean },
  read: PageReader<Row>,
): Promise<{ items: Row[]; nextCursor: string | null }> {
  const items: Row[] = []
  const rowsMax = options.all ? Infinity : Number(options.limit)
  let cursor = options.cursor ?? null
  const pagesMax = options.all ? PAGES_MAX : SHORT_PAGES_MAX
  for (let page = 0; page < pagesMax && items.length < rowsMax; page += 1) {
    const limit = Math.min(PAGE_SIZE_MAX, rowsMax - items.length)
    const body = await read({ limit, ...(cursor === null ? {} : { cursor }) })
    items.push(...body.data)
    cursor = body.has_more ? body.next_cursor : null
    if (cursor === null) break
  }
  return { items, nextCursor: cursor }
}

export async function* pagesOf<Row>(read: PageReader<Row>, pagesMax = Infinity): AsyncGenerator<Row[]> {
  let cursor: string | null = null
  for (let page = 0; page < pagesMax; page += 1) {
    const body: Page<Row> = await read({ limit: PAGE_SIZE_MAX, ...(cursor === null ? {} : { cursor }) })
    yield body.data
    if (!body.has_more || body.next_cursor === null) return
    cursor = body.next_cursor
  }
}
