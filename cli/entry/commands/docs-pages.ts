import { readFileSync, readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { packageRoot } from '../../../src/lib/package-root.ts'

/** A page of the documentation: README, a file below docs, CHANGELOG or DECISIONS. */
export type DocPage = {
  /** The name that `svc docs` takes: the file's own, without its folder. */
  topic: string
  title: string
  /** The file, from the root of the package. */
  path: string
  text: string
}

/** A heading below the title of a page, with its text up to the next heading of its level. */
export type DocSection = {
  /** `page#anchor`, as links to it are written. */
  topic: string
  title: string
  path: string
  text: string
}

/** Where a page stands in the list: general pages, then those of each reader, the reference, and the histories. */
const FOLDERS = ['docs', join('docs', 'merchants'), join('docs', 'operators'), join('docs', 'reference')]

export function readPages(): DocPage[] {
  const root = packageRoot()
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .toSorted()
      .map((name) => join(root, folder, name)),
  )
  const histories = ['CHANGELOG.md', 'DECISIONS.md'].map((name) => join(root, name))
  return [join(root, 'README.md'), ...files, ...histories].map((file) => {
    const text = readFileSync(file, 'utf8')
    const path = relative(root, file).split(sep).join('/')
    const topic = path.replace(/^.*\//, '').replace(/\.md$/, '').toLowerCase()
    return { topic, title: /^# (?<title>.+)$/m.exec(text)?.groups?.['title'] ?? topic, path, text }
  })
}

/** The sections of a page; a "#" within a block of code begins none. */
export function sectionsOf({ topic, path, text }: DocPage): DocSection[] {
  const lines = text.split('\n')
  const heads: { at: number; level: number; title: string }[] = []
  let isCode = false
  for (const [at, line] of lines.entries()) {
    if (line.startsWith('```')) isCode = !isCode
    const { marks, title } = (isCode ? null : /^(?<marks>#{2,3}) (?<title>.+)$/.exec(line))?.groups ?? {}
    if (marks !== undefined && title !== undefined) heads.push({ at, level: marks.length, title })
  }
  return heads.map(({ at, level, title }, index) => {
    const end = heads.slice(index + 1).find((head) => head.level <= level)?.at
    return {
      topic: `${topic}#${slugOf(title)}`,
      title: title.replaceAll('`', ''),
      path,
      text: lines.slice(at, end).join('\n'),
    }
  })
}

/** A title as the anchor of a link. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}
