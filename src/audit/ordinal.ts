/** Ordinals are counted from 1 and stay far below what PostgreSQL's bigint holds. */
export function isOrdinal(text: string): boolean {
  return /^[1-9]\d{0,17}$/.test(text)
}
