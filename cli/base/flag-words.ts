/**
 * Flags that mean something before the command line is understood: they decide what it is understood with. Words after
 * `--` are none.
 */
export function hasFlag(words: readonly string[], flag: string): boolean {
  return flagsOf(words).includes(flag)
}

/** The values of a flag of these names, each given with an equals sign or as the next word, in their order. */
export function valuesOfFlag(words: readonly string[], ...flags: readonly string[]): string[] {
  return flagsOf(words).flatMap((word, index, all) => {
    const long = flags.find((flag) => word.startsWith(`${flag}=`))
    if (long !== undefined) return [word.slice(long.length + 1)]
    const next = all[index + 1]
    return flags.includes(word) && next !== undefined ? [next] : []
  })
}

function flagsOf(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--')
  return end === -1 ? words : words.slice(0, end)
}

const FIELDS = /^[a-z][a-z0-9_.,]*[_.,][a-z0-9_.,]*$/

/**
 * The words in a form in which a value that may be left out is never a word of the command: `--json` takes its fields
 * after an equals sign, or as the next word when that can only be fields (`a,b`, `net_amount`). An id that follows stays
 * an argument.
 */
export function withoutDoubt(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  const given = end === -1 ? argv : argv.slice(0, end)
  const words: string[] = []
  for (let index = 0; index < given.length; index += 1) {
    const [word = '', next = ''] = given.slice(index, index + 2)
    const takesNext = word === '--json' && FIELDS.test(next)
    if (takesNext) index += 1
    if (takesNext) words.push(`${word}=${next}`)
    else if (word === '--json') words.push('--json=')
    else words.push(word)
  }
  return [...words, ...(end === -1 ? [] : argv.slice(end))]
}
