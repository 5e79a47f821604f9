import type { Candidate } from './candidates.ts'

/** Ids begin with their time: tables show their ends, and people know them by those. */
const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/
const END = 8

/**
 * The candidates that a word can become: those that begin as it does, else in another case; else the only id whose end
 * begins so, for of several a shell would put back what they have in common.
 * @param prefix what of the word is no part of its value: `--status=`
 */
export function fitting(
  candidates: readonly Candidate[],
  { word, prefix }: { word: string; prefix: string },
): { found: readonly Candidate[]; isWhole: boolean } {
  const exact = candidates.filter(({ value }) => value.startsWith(word))
  if (exact.length > 0) return { found: exact, isWhole: false }
  const small = word.toLowerCase()
  const anyCase = candidates.filter(({ value }) => value.toLowerCase().startsWith(small))
  if (anyCase.length > 0) return { found: anyCase, isWhole: true }
  const end = small.slice(prefix.length)
  const byEnd = candidates.filter(({ value }) => isEndOf(value.slice(prefix.length), end))
  return byEnd.length === 1 ? { found: byEnd, isWhole: true } : { found: [], isWhole: false }
}

function isEndOf(id: string, end: string): boolean {
  return ID.test(id) && end.length > 1 && (id.slice(-END).startsWith(end) || (end.length > END && id.endsWith(end)))
}
