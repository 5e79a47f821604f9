/**
 * The words that a shell gives, as the command line has them, and what of the last one the shell takes for another word.
 * Bash breaks words at "=" and ":"; PowerShell loses an empty one, which its name says then.
 */
export function joinedBy(shell: string, typed: readonly string[]): { words: string[]; cut: string } {
  const given = typed.map((word) => withoutQuotes(word))
  if (shell === 'powershell-empty') return { words: [...given, ''], cut: '' }
  if (shell !== 'bash') return { words: given.length === 0 ? [''] : given, cut: '' }
  const words: string[] = []
  let cut = ''
  for (let index = 0; index < given.length; index += 1) {
    const word = given[index] ?? ''
    const last = words.at(-1)
    if (!/^[=:]+$/.test(word) || last === undefined || last === '') {
      words.push(word)
      cut = ''
      continue
    }
    cut = last + word
    words[words.length - 1] = cut + (given[index + 1] ?? '')
    index += 1
  }
  return { words: words.length === 0 ? [''] : words, cut }
}

/** A shell gives words as they were typed, and of the last one the quote that is still open. It keeps that itself. */
function withoutQuotes(word: string): string {
  const { before = '', quote, rest = '' } = /^(?<before>--[\w-]+=)?(?<quote>["'])(?<rest>.*)$/s.exec(word)?.groups ?? {}
  if (quote === undefined) return word
  return before + (rest.endsWith(quote) ? rest.slice(0, -1) : rest)
}
