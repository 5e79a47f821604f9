import { OPEN_BANKING_PATH } from '../wire/open-banking.ts'

type Query = Readonly<Record<string, string | number | undefined>>

/** The position of a page in its list (decision 7), as absolute addresses that keep the filters. */
export function pageLinks(
  { publicUrl, path, query }: { publicUrl: string; path: string; query: Query & { page: number } },
  totalPages: number,
) {
  const { page } = query
  const at = (number: number): string => `${publicUrl}${OPEN_BANKING_PATH}${path}?${search({ ...query, page: number })}`
  return {
    Links: {
      Self: at(page),
      First: at(1),
      ...(page > 1 ? { Prev: at(Math.min(page - 1, totalPages)) } : {}),
      ...(page < totalPages ? { Next: at(page + 1) } : {}),
      Last: at(totalPages),
    },
    Meta: { TotalPages: totalPages },
  }
}

/** The links of a single resource: its own address, as the only page. */
export function onlyPage({ publicUrl, path }: { publicUrl: string; path: string }) {
  return { Links: { Self: `${publicUrl}${OPEN_BANKING_PATH}${path}` }, Meta: { TotalPages: 1 } }
}

function search(query: Query): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  return parameters
}

/** The number of pages; an empty list has one empty page. */
export function pagesOf(count: bigint, pageSize: number): number {
  const pages = (count + BigInt(pageSize) - 1n) / BigInt(pageSize)
  return pages < 1n ? 1 : Number(pages)
}
