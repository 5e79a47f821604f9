const PREFIX_MIN = 3

/** The known word that was probably meant: a near one, or the only one that begins as this does; undefined for neither. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  const wanted = plain(word)
  let best: { word: string; distance: number } | undefined
  for (const candidate of known) {
    const distance = editDistance(wanted, plain(candidate))
    if (best === undefined || distance < best.distance) best = { word: candidate, distance }
  }
  const allowed = Math.max(1, Math.floor(wanted.length / 3))
  if (best !== undefined && best.distance <= allowed) return best.word
  const longer = known.filter((candidate) => plain(candidate).startsWith(wanted))
  return wanted.length >= PREFIX_MIN && longer.length === 1 ? longer[0] : undefined
}

/** Case and separators are what people mix up first: paymentId, payment-id and payment_id are one word here. */
function plain(word: string): string {
  return word.toLowerCase().replace(/[_\-\s]/g, '')
}

/** Levenshtein's distance, row by row, where two letters that changed places count as one slip. Words are short. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : replaced
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
