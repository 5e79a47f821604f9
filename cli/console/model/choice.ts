import type { Field } from './modal.ts'

/** The words of a choice that fit what is looked for in them and in what they mean. */
export function fittingWords({ words = [], notes }: Field, sought: string): readonly string[] {
  const text = sought.toLowerCase()
  if (notes === undefined || text === '') return words
  const fitting = words.filter((word) => `${word} ${notes[word] ?? ''}`.toLowerCase().includes(text))
  // Those that begin like it come first.
  return [
    ...fitting.filter((word) => word.toLowerCase().startsWith(text)),
    ...fitting.filter((word) => !word.toLowerCase().startsWith(text)),
  ]
}

/** The place of the word that a key leads to; undefined where it leads to none. */
export function chosenAfter(
  chosen: number,
  key: string,
  words: readonly string[],
  { byLetter }: { byLetter: boolean },
): number | undefined {
  const count = Math.max(1, words.length)
  if (['down', 'right', 'tab'].includes(key) || (byLetter && key === 'j')) return (chosen + 1) % count
  if (['up', 'left'].includes(key) || (byLetter && key === 'k')) return (chosen + count - 1) % count
  if (!byLetter) return undefined
  // The same letter again leads to the next word that begins with it.
  const after = words.map((_, offset) => (chosen + 1 + offset) % count)
  return after.find((index) => words[index]?.toLowerCase().startsWith(key.toLowerCase())) ?? chosen
}
