import type { Page } from '../screen.ts'

/** Why the last reading failed, and since when readings have. */
export type Failure = { text: string; hint: string | undefined; at: number }

/** What has been read of one resource. After a failure the rows of before stay. */
export type Feed<Row> = {
  rows: readonly Row[]
  next: string | null
  /** Whether the service gives no more than these, although there may be others. */
  isNewestOnly: boolean
  /** When rows last came; undefined before the first ones. */
  readAt: number | undefined
  failure: Failure | undefined
  /** Whether so much has come that the rows were left as they were: whoever reads them would lose their place. */
  isBehind: boolean
  /** What was read beside the first page. */
  extra: unknown
  /** What came with the last reading that was not there before, and when; undefined until there was one before. */
  came: { ids: readonly string[]; at: number } | undefined
}

export const NO_FEED: Feed<never> = {
  rows: [],
  next: null,
  isNewestOnly: false,
  readAt: undefined,
  failure: undefined,
  isBehind: false,
  extra: undefined,
  came: undefined,
}

/** More than this is not kept: what the service looks for itself finds the rest. */
export const ROWS_MAX = 500

/**
 * The rows with a new first page. Those of the pages after it stay, as long as the pages still join; where so much has
 * come that they don't, the new page stands alone and the rest is read again by scrolling. With `holds` it is the rows
 * of before that stay then.
 */
export function withFirstPage<Row>(
  feed: Feed<Row>,
  page: Page<Row>,
  { id, at, holds = false }: { id(row: Row): string; at: number; holds?: boolean },
): Feed<Row> {
  const came = cameWith(feed, page, { id, at })
  const isNewestOnly = page.isNewestOnly === true
  const whole = {
    rows: page.rows,
    next: page.next,
    isNewestOnly,
    readAt: at,
    failure: undefined,
    isBehind: false,
    extra: page.extra,
    came,
  }
  const alone = holds && feed.rows.length > 0 ? { ...feed, failure: undefined, isBehind: true } : whole
  const last = page.rows.at(-1)
  if (page.next === null || last === undefined) return whole
  const joint = feed.rows.findIndex((row) => id(row) === id(last))
  if (joint === -1) return alone
  if (joint === feed.rows.length - 1) return whole
  const taken = new Set(page.rows.map(id))
  const rest = feed.rows.slice(joint + 1).filter((row) => !taken.has(id(row)))
  const rows = [...page.rows, ...rest]
  // What is cut off at the end could not be read on from there.
  if (rows.length > ROWS_MAX + page.rows.length) return alone
  return { ...whole, rows, next: feed.next }
}

/** The rows of a first page that were not here; those at its end have only moved up where more pages follow. */
function cameWith<Row>(
  { rows, readAt }: Feed<Row>,
  page: Page<Row>,
  { id, at }: { id(row: Row): string; at: number },
): Feed<Row>['came'] {
  if (readAt === undefined) return undefined
  const known = new Set(rows.map(id))
  const ids = page.rows.map(id)
  const last = ids.findLastIndex((each) => known.has(each))
  const shown = page.next === null || last === -1 ? ids : ids.slice(0, last)
  return { ids: shown.filter((each) => !known.has(each)), at }
}

export function withNextPage<Row>(
  feed: Feed<Row>,
  page: Page<Row>,
  { id, at }: { id(row: Row): string; at: number },
): Feed<Row> {
  const known = new Set(feed.rows.map(id))
  const rows = [...feed.rows, ...page.rows.filter((row) => !known.has(id(row)))]
  return { ...feed, rows, next: page.next, readAt: at, failure: undefined }
}
