/** A page of the documentation. */
export type DocPage = {
  /** The name that `svc docs` takes: the file's own, without its folder. */
  topic: string
  title: string
  /** The file, from the root of the package. */
  path: string
  text: string
}

/** A heading of a page with the text below it, up to the next one. */
export type DocSection = DocPage & { heading: string }

/** What a word is worth where it is: a heading says what its section is about. */
const WEIGHTS = { heading: 8, title: 4, row: 3, text: 1 } as const
/** Histories mention everything once; what the contract and the list of commands say briefly, guides explain. */
const SHARES: Readonly<Record<string, number>> = { changelog: 0.2, decisions: 0.2, contract: 0.7, commands: 0.7 }
/** A word that is in text ten times says little more than one that is in it once. */
const COUNTED_MAX = 3
const SECTIONS_MAX = 10
/** Words that questions have, and that say nothing. */
const IGNORED = new Set('and are can do does for how in is it mean meaning my no of on the to what with'.split(' '))

/** Splits a page at its headings. Lines of code that begin with # are none. */
export function sectionsOf(page: DocPage): DocSection[] {
  const sections: DocSection[] = []
  let isCode = false
  let lines: string[] = []
  let heading = page.title
  const end = (): void => {
    if (lines.some((line) => line.trim() !== '')) sections.push({ ...page, heading, text: lines.join('\n').trim() })
    lines = []
  }
  for (const line of page.text.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    const found = isCode ? undefined : /^#{1,4} (?<heading>.+)$/.exec(line)?.groups?.['heading']
    if (found !== undefined) {
      end()
      heading = found
    } else lines.push(line)
  }
  end()
  return sections
}

/**
 * Finds sections for words as a newcomer types them: those that have most of the words, a word in a heading before one in
 * the text, and rare words before frequent ones.
 */
export function searchSections(pages: readonly DocPage[], wanted: string): DocSection[] {
  const sections = pages.flatMap((page) => sectionsOf(page))
  const words = [...new Set(wordsOf(wanted))]
  const indexed = sections.map((section) => ({
    section,
    heading: wordsOf(section.heading),
    title: wordsOf(`${section.title} ${section.topic}`),
    rows: wordsOf(section.text.match(FIRST_CELL)?.join(' ') ?? ''),
    text: wordsOf(section.text),
  }))
  const rarity = new Map(
    words.map((word) => {
      const having = indexed.filter(({ heading, title, text }) =>
        [heading, title, text].some((each) => each.includes(word)),
      )
      return [word, having.length === 0 ? 0 : Math.log(1 + sections.length / having.length)]
    }),
  )
  const scored = indexed.map(({ section, ...parts }) => {
    let [score, found] = [0, 0]
    for (const word of words) {
      const value =
        (parts.heading.includes(word) ? WEIGHTS.heading : 0) +
        (parts.title.includes(word) ? WEIGHTS.title : 0) +
        (CODE.test(word) && parts.rows.includes(word) ? WEIGHTS.row : 0) +
        Math.min(parts.text.filter((each) => each === word).length, COUNTED_MAX) * WEIGHTS.text
      if (value > 0) found += 1
      score += value * (rarity.get(word) ?? 0)
    }
    const share = words.length === 0 ? 0 : found / words.length
    return { section, share, score: score * share ** 2 * (SHARES[section.topic] ?? 1) }
  })
  return scored
    .filter(({ share }) => share > 0.5)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, SECTIONS_MAX)
    .map(({ section }) => section)
}

/** What a row of a table is about, where that is a code or a variable. */
const FIRST_CELL = /^\| [^|]+/gm
const CODE = /_/

/** Words as they are compared: without case, and without the endings that a question has and a heading has not. */
function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replaceAll(/back(?:-?| | it | them )ups?\b/g, 'backup')
    .split(/[^a-z0-9_]+/)
    .filter((word) => word.length > 1 && !IGNORED.has(word))
    .map((word) => stemOf(word))
}

function stemOf(word: string): string {
  return word
    .replace(/(?<=\w{2})ie[sd]$/, 'y')
    .replace(/(?<=\w{2})s$/, '')
    .replace(/(?<=\w{3})(ing|ed|e)$/, '')
}
