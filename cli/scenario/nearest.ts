/** The known word that was probably meant, or undefined when none is near. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  const wanted = plain(word)
  let best: { word: string; distance: number } | undefined
  for (const candidate of known) {
    const distance = editDistance(wanted, plain(candidate))
    if (best === undefined || distance < best.distance) best = { word: candidate, distance }
  }
  const allowed = Math.max(1, Math.floor(wanted.length / 3))
  return best !== undefined && best.distance <= allowed ? best.word : undefined
}

/** Case and separators are what people mix up first: paymentId, payment-id and payment_id are one word here. */
function plain(word: string): string {
  return word.toLowerCase().replace(/[_\-\s]/g, '')
}

/** Levenshtein's distance, row by row. Words of a file are short. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
