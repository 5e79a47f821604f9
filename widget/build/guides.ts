import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { Marked } from 'marked'
import type { Tokens } from 'marked'
import type { Built } from './bundle.ts'

/*
 * The documentation as pages of the service (/docs): rendered once, when the service is built, without scripts. Links lead
 * to other pages or out of the service; files that are not served are named, and not linked.
 */
const ROOT = join(import.meta.dirname, '..', '..')

/** The parts of the list of pages. */
const GROUPS = [
  { folder: 'docs', title: 'General' },
  { folder: 'docs/merchants', title: 'For merchants' },
  { folder: 'docs/operators', title: 'For operators' },
  { folder: 'docs/reference', title: 'Reference' },
] as const
const PROJECT_FILES = ['CHANGELOG.md', 'DECISIONS.md', 'SECURITY.md']

type Page = { file: string; slug: string; title: string; text: string; sections: string[] }
type Group = { title: string; pages: Page[] }

export function guides(): Built[] {
  const groups: Group[] = GROUPS.map(({ folder, title }) => ({ title, pages: pagesIn(folder) }))
  groups.push({ title: 'Project', pages: PROJECT_FILES.map((file) => readPage(file)) })
  const slugs = new Map(groups.flatMap(({ pages }) => pages.map(({ file, slug }) => [file, slug])))
  const rendered = groups.flatMap(({ pages }) =>
    pages.map((page) => ({
      path: `pages/docs/${page.slug}.html`,
      bytes: Buffer.from(documentOf({ title: page.title, content: render(page, slugs) })),
    })),
  )
  return [
    ...rendered,
    {
      path: 'pages/docs/index.html',
      bytes: Buffer.from(documentOf({ title: 'Documentation', content: list(groups) })),
    },
    { path: 'docs/guides.css', bytes: readFileSync(join(ROOT, 'widget', 'guides.css')) },
    ...readdirSync(join(ROOT, 'docs', 'images')).map((name) => ({
      path: `docs/${name}`,
      bytes: readFileSync(join(ROOT, 'docs', 'images', name)),
    })),
  ]
}

function pagesIn(folder: string): Page[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .toSorted()
    .map((name) => readPage(`${folder}/${name}`))
}

function readPage(file: string): Page {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const [, title = file] = /^# (.+)$/m.exec(text) ?? []
  const sections = new Marked()
    .lexer(text)
    .flatMap((token) => (token.type === 'heading' && token['depth'] === 2 ? [String(token['text'])] : []))
  return {
    file,
    slug: file
      .replace(/^docs\//, '')
      .replace(/\.md$/, '')
      .toLowerCase(),
    title,
    text,
    sections,
  }
}

/** Where a heading is linked to, as GitHub names it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
}

/** For those who write the pages. Other HTML is a mistake, such as a placeholder without code marks. */
const COMMENTS = /^\s*(?:<!--(?:(?!-->)[^])*-->\s*)+$/

/** @throws for HTML that is not a comment: it would be missing from the page */
export function render(page: Pick<Page, 'file' | 'text'>, slugs: ReadonlyMap<string, string>): string {
  const marked = new Marked({ gfm: true })
  marked.use({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading): string {
        const id = anchorOf(text.replaceAll('`', ''))
        const content = this.parser.parseInline(tokens)
        return `<h${depth} id="${escaped(id)}">${content}</h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link): string {
        const content = this.parser.parseInline(tokens)
        const target = targetOf(page, href, slugs)
        return target === undefined ? content : `<a href="${escaped(target)}">${content}</a>`
      },
      image({ href, text }: Tokens.Image): string {
        return `<img src="/widget/docs/${escaped(posix.basename(href))}" alt="${escaped(text)}">`
      },
      table(token: Tokens.Table): string {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          `<tr>${row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`
        const rows = token.rows.map((row) => cells(row, 'td')).join('\n')
        // Wide tables scroll by themselves, also by keyboard.
        return `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead>${cells(token.header, 'th')}</thead><tbody>${rows}</tbody></table></div>\n`
      },
      code({ text }: Tokens.Code): string {
        return `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`
      },
      html({ text }: Tokens.HTML | Tokens.Tag): string {
        if (!COMMENTS.test(text)) throw new Error(`${page.file} has HTML outside of code: ${text.trim()}`)
        return ''
      },
    },
  })
  return marked.parse(page.text, { async: false })
}

/** @returns undefined for a file that the service does not serve */
function targetOf({ file }: Pick<Page, 'file'>, href: string, slugs: ReadonlyMap<string, string>): string | undefined {
  if (/^https?:/.test(href) || href.startsWith('#')) return href
  const [path = '', anchor] = href.split('#')
  const linked = posix.join(dirname(file), path)
  if (linked === 'README.md') return '/docs'
  const slug = slugs.get(linked)
  if (slug !== undefined) return `/docs/${slug}${anchor === undefined ? '' : `#${anchor}`}`
  if (!existsSync(join(ROOT, linked))) throw new Error(`${file} links to ${href}, which is not there`)
  return undefined
}

function list(groups: readonly Group[]): string {
  const parts = groups.map(
    ({ title, pages }) => `<h2>${escaped(title)}</h2>\n<ul class="pages">\n${pages.map(entryOf).join('\n')}\n</ul>`,
  )
  return `<h1>Documentation</h1>
<p>API operations: <a href="/reference">API reference</a>. For Postman, Insomnia and Bruno there is a collection with a first
payment to run: <a href="/postman.json">postman.json</a>. On a terminal, <code>svc docs &lt;words&gt;</code> searches these pages.</p>
${parts.join('\n')}`
}

/** Questions of guides are shown, so that the browser's own search finds them; the reference would fill screens. */
function entryOf({ slug, title, file, sections }: Page): string {
  const link = `<a href="/docs/${slug}">${escaped(title)}</a>`
  if (!/^docs\/(merchants|operators)\//.test(file)) return `<li>${link}</li>`
  const questions = sections.map((each) => {
    const text = each.replaceAll('`', '')
    return `<li><a href="/docs/${slug}#${escaped(anchorOf(text))}">${escaped(text)}</a></li>`
  })
  return `<li>${link}\n<ul>${questions.join('')}</ul></li>`
}

function documentOf({ title, content }: { title: string; content: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title.replaceAll('`', ''))} · svc</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/widget/docs/guides.css">
</head>
<body>
<nav aria-label="Documentation"><a href="/docs">Documentation</a> <a href="/reference">API reference</a></nav>
<main>
${content}</main>
</body>
</html>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
