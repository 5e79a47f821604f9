/** A reference that leads nowhere, or an index that disagrees with its entries: where, and what is wrong. */
export type Problem = { file: string; line: number; message: string }

/** A text file by its path from the root of the repository. */
export type TextFile = { path: string; text: string }

/** Where references lead to: the numbers of decisions, the headings of the contract, and the anchors of each document. */
export type Targets = {
  decisions: ReadonlySet<number>
  headings: ReadonlySet<string>
  /** By path; undefined for a document that does not exist. */
  anchors: ReadonlyMap<string, ReadonlySet<string>>
  /** Every tracked path, folders included: links may lead to any of them. */
  paths: ReadonlySet<string>
}

export const DECISIONS = 'DECISIONS.md'
export const CONTRACT = 'docs/contract.md'

/** What begins a line of a comment in TypeScript, JavaScript, SQL, YAML and shell. */
const COMMENT = /^\s*(?:\/\*\*?|\*\/?|\/\/|--|#(?!#))\s?/

/** A text as running words, so that a reference that is broken over two lines reads as one. */
type Running = { words: string; lineOf(index: number): number }

function runningText({ path, text }: TextFile): Running {
  const isDocument = path.endsWith('.md')
  const starts: number[] = []
  let words = ''
  for (const line of text.split('\n')) {
    starts.push(words.length)
    words += `${isDocument ? line.trim() : line.replace(COMMENT, '').trim()} `
  }
  return {
    words,
    lineOf: (index) => starts.findLastIndex((start) => start <= index) + 1,
  }
}

const NUMBERED = /\bdecisions?\s+(\d+(?:(?:,\s*(?:and\s+)?|\s+and\s+|\s+to\s+|\s+or\s+)\d+)*)\b/gi
const OLD_FORM = /\(specification\b/gi
const HEADING = /§\s?(?=\p{Lu})/gu

/** The references of a file that lead nowhere. */
export function brokenReferences(file: TextFile, targets: Targets): Problem[] {
  const { words, lineOf } = runningText(file)
  const problems: Problem[] = []
  const add = (index: number, message: string) => problems.push({ file: file.path, line: lineOf(index), message })

  for (const { index, 1: list = '' } of words.matchAll(NUMBERED)) {
    for (const number of numbersOf(list)) {
      if (!targets.decisions.has(number)) add(index, `decision ${number} is not in ${DECISIONS}`)
    }
  }
  for (const { index, 0: sign } of words.matchAll(HEADING)) {
    const rest = words.slice(index + sign.length)
    if (!startsWithHeading(rest, targets.headings))
      add(index, `§${rest.slice(0, 40).trim()} begins with no heading of ${CONTRACT}`)
  }
  for (const { index } of words.matchAll(OLD_FORM)) {
    add(index, `cite the rule as (contract §Heading), or the entry as (decision N)`)
  }
  if (file.path.endsWith('.md')) problems.push(...brokenLinks(file, targets))
  return problems
}

/** 2, 3, 4 and 9 of `2 to 4 and 9`. */
function numbersOf(list: string): number[] {
  const numbers: number[] = []
  let isRange = false
  for (const [part] of list.matchAll(/\d+|to/g)) {
    if (part === 'to') {
      isRange = true
      continue
    }
    const from = isRange ? (numbers.at(-1) ?? 0) + 1 : Number(part)
    for (let number = from; number <= Number(part); number++) numbers.push(number)
    isRange = false
  }
  return numbers
}

function startsWithHeading(text: string, headings: ReadonlySet<string>): boolean {
  for (const heading of headings) {
    if (text.startsWith(heading) && !/^[\p{Letter}\p{Number}]/u.test(text.slice(heading.length))) return true
  }
  return false
}

const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g

/** Links between documents that lead to no file or no heading. Code, and other people's addresses, are not looked at. */
function brokenLinks({ path, text }: TextFile, { anchors, paths }: Targets): Problem[] {
  const problems: Problem[] = []
  let isCode = false
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode
    if (isCode) continue
    for (const { 1: target = '' } of line.replaceAll(/`[^`]*`/g, '').matchAll(LINK)) {
      if (/^[a-z][a-z0-9+.-]*:/i.test(target)) continue
      const [file = '', anchor] = target.split('#')
      const to = file === '' ? path : resolveFrom(path, file)
      const known = anchors.get(to)
      const message =
        file !== '' && !paths.has(to)
          ? `the link to ${target} leads to no file`
          : anchor !== undefined && known !== undefined && !known.has(anchor)
            ? `${to} has no heading for #${anchor}`
            : undefined
      if (message !== undefined) problems.push({ file: path, line: index + 1, message })
    }
  }
  return problems
}

function resolveFrom(path: string, target: string): string {
  const parts = path.split('/').slice(0, -1)
  for (const part of decodeURIComponent(target).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return parts.join('/')
}

/** The headings of a document with their lines, without those in code. */
export function headingsOf(text: string): { text: string; line: number }[] {
  const headings: { text: string; line: number }[] = []
  let isCode = false
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode
    const heading = isCode ? undefined : /^#{1,6}\s+(.*?)\s*$/.exec(line)?.[1]
    if (heading !== undefined) headings.push({ text: heading, line: index + 1 })
  }
  return headings
}

/** The anchors that GitHub gives to a document's headings; a repeated heading gets a number. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const { text: heading } of headingsOf(text)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = plain.replaceAll(/[^\p{Letter}\p{Number}\p{Mark}_\- ]/gu, '').replaceAll(' ', '-')
    let unique = anchor
    for (let repeat = 1; anchors.has(unique); repeat++) unique = `${anchor}-${repeat}`
    anchors.add(unique)
  }
  return anchors
}

const ENTRY = /^### (\d+)\. (.+)$/
/** A row of the index holds one or two entries: a number, a linked title, and what has superseded it. */
const INDEXED = /\| (\d+) \| \[([^|]+)\]\(#[^)]+\)([^|]*)(?=\|)/g
const SUPERSEDED = /superseded (?:in part )?by \d+(?:(?:, | and )\d+)*/i
/** The one form of the mark: the first line of the entry, such as `*Superseded in part by 382: the reason.*` */
const MARK = /^\*Superseded (?:in part )?by \d+(?:(?:, | and )\d+)*(?:[,:] .+)?\.\*$/

/** The numbers of the decisions that have an entry. */
export function decisionNumbers(text: string): Set<number> {
  return new Set(text.split('\n').flatMap((line) => (ENTRY.test(line) ? [Number(ENTRY.exec(line)?.[1])] : [])))
}

type Entry = { title: string; superseded: string | undefined; group: string; line: number }

/**
 * Where the index of decisions and its entries disagree, what a superseded entry names that is not there, and what is out
 * of order: the numbers of each group grow, in the index and below it.
 */
export function indexProblems(text: string): Problem[] {
  const problems: Problem[] = []
  const add = (line: number, message: string) => problems.push({ file: DECISIONS, line, message })
  const rows = new Map<number, Entry>()
  const entries = new Map<number, Entry>()
  let group = ''
  let entry: Entry | undefined
  for (const [index, line] of text.split('\n').entries()) {
    group = /^## (.+)$/.exec(line)?.[1] ?? /^\| \| \*\*\[([^\]]+)\]/.exec(line)?.[1] ?? group
    const heading = ENTRY.exec(line)
    const target = heading ? entries : rows
    for (const [, digits, title = '', note = ''] of heading ? [heading] : line.matchAll(INDEXED)) {
      const number = Number(digits)
      const item = { title, superseded: SUPERSEDED.exec(note)?.[0].toLowerCase(), group, line: index + 1 }
      if (target.has(number)) add(index + 1, `decision ${number} is there twice`)
      target.set(number, item)
      if (heading) entry = item
    }
    if (heading) continue
    if (/^#{1,3} /.test(line)) entry = undefined
    else if (entry !== undefined && /supersede/i.test(line)) {
      if (index === entry.line && MARK.test(line)) entry.superseded = SUPERSEDED.exec(line)?.[0].toLowerCase()
      else add(index + 1, 'the first line of an entry says by which it is superseded: *Superseded by 9.*')
    }
  }
  for (const [number, { title, superseded, group: at, line }] of entries) {
    const row = rows.get(number)
    if (row === undefined) add(line, `decision ${number} has no row in the index`)
    else if (row.title !== title)
      add(row.line, `the index calls decision ${number} "${row.title}", its entry "${title}"`)
    else if (row.superseded !== superseded)
      add(row.line, `index and entry of decision ${number} disagree on whether it is superseded`)
    else if (row.group !== at)
      add(row.line, `the index has decision ${number} below ${row.group}, its entry is below ${at}`)
    for (const by of superseded?.match(/\d+/g) ?? []) {
      if (!entries.has(Number(by))) add(line, `decision ${number} is superseded by ${by}, which has no entry`)
    }
  }
  for (const [number, { line }] of rows) {
    if (!entries.has(number)) add(line, `decision ${number} is in the index and has no entry`)
  }
  for (const list of [[...rows], [...entries]]) {
    for (const [index, [number, { group: at, line }]] of list.entries()) {
      const before = list[index - 1]
      if (before?.[1].group === at && before[0] > number) add(line, `decision ${number} comes before ${before[0]}`)
    }
  }
  return problems
}

/** Headings of the contract that are there twice: a reference to one would be ambiguous. */
export function repeatedHeadings(text: string): Problem[] {
  const seen = new Set<string>()
  return headingsOf(text).flatMap(({ text: heading, line }) => {
    if (!seen.has(heading)) {
      seen.add(heading)
      return []
    }
    return [{ file: CONTRACT, line, message: `the heading "${heading}" is there twice` }]
  })
}

/** Paths in backticks that a document names and that are not there. */
export function missingPaths({ path, text }: TextFile, paths: ReadonlySet<string>): Problem[] {
  const NAMED = /`((?:src|cli|widget|test|migrations|examples|bench|docs)\/[\w./-]+?)\/?`/g
  return text
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(NAMED)]
        .filter(({ 1: named = '' }) => !paths.has(named))
        .map(({ 1: named = '' }) => ({ file: path, line: index + 1, message: `${named} does not exist` })),
    )
}
