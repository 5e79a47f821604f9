import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { searchSections, sectionsOf } from '../../cli/entry/commands/docs-search.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { runCli } from './harness.ts'

type Row = { topic: string; title: string; path: string; heading: string }

async function rows(...words: string[]): Promise<Row[]> {
  return JSON.parse((await runCli(['docs', ...words, '--json'])).stdout)
}

t.test('svc docs lists every page once, each with its file', async (t) => {
  const pages = await rows()
  t.match(pages[0], { topic: 'readme', title: 'svc', path: 'README.md' })
  const topics = pages.map(({ topic }) => topic)
  t.equal(new Set(topics).size, topics.length, 'no name is used twice')
  for (const topic of ['concepts', 'webhooks', 'console', 'errors', 'changelog', 'decisions'])
    t.ok(topics.includes(topic), topic)
  t.match((await runCli(['docs', '-o', 'id'])).stdout, /^readme\n/)
})

t.test('a page is printed as it is, by its name or its file', async (t) => {
  const text = readFileSync(join(packageRoot(), 'docs', 'merchants', 'webhooks.md'), 'utf8')
  for (const name of ['webhooks', 'Webhooks', 'docs/merchants/webhooks.md'])
    t.equal((await runCli(['docs', name])).stdout, text, name)
  t.match((await runCli(['docs', 'changelog'])).stdout, /^# /)
  t.match(JSON.parse((await runCli(['docs', 'webhooks', '--json'])).stdout), { topic: 'webhooks', text })
})

/** What newcomers ask, as they type it, and the section that answers it. */
const QUESTIONS: readonly [words: string, file: string, heading: string][] = [
  ['webhook retries', 'docs/merchants/webhooks.md', 'When is a delivery retried?'],
  ['standard webhooks', 'docs/merchants/webhooks.md', 'How do I verify a signature?'],
  ['tls proxy', 'docs/operators/running.md', 'What stands in front of it?'],
  ['rate limits', 'docs/contract.md', 'Limits'],
  ['back-up', 'docs/operators/running.md', 'How do I back it up and restore it?'],
  ['how do I upgrade', 'docs/operators/running.md', 'How do I upgrade it?'],
  ['metrics', 'docs/operators/running.md', 'How do I watch it?'],
  ['alerts', 'docs/operators/running.md', 'Can it alert me without Prometheus?'],
  ['container', 'docs/operators/running.md', 'How do I run it in a container?'],
  ['meaning of INSUFFICIENT_FUNDS', 'docs/reference/errors.md', 'Why a payment failed'],
  ['real bank', 'docs/operators/going-live-uk.md', 'Going live in the UK'],
  ['roles', 'docs/operators/identity.md', "What may a merchant's roles do?"],
  ['webhook in Python', 'docs/merchants/webhooks.md', 'Webhooks'],
  ['CI', 'docs/scenarios.md', 'How do I run them in CI?'],
  ['settings', 'docs/reference/configuration.md', 'Configuration: every setting'],
]

t.test('what newcomers ask is answered by the first section that is found', async (t) => {
  for (const [words, path, heading] of QUESTIONS) t.match((await rows(words))[0], { path, heading }, words)
})

t.test('a section has most of the words, and lines of code that begin with # are no headings', async (t) => {
  const page = {
    topic: 'page',
    title: 'Page',
    path: 'docs/page.md',
    text: '# Page\n\nAbout apples.\n\n## How do I peel them?\n\n```sh\n# peel\npeel apples\n```\n\n## Empty\n',
  }
  const headings = (words: string): string[] => searchSections([page], words).map(({ heading }) => heading)
  t.same(
    sectionsOf(page).map(({ heading }) => heading),
    ['Page', 'How do I peel them?'],
  )
  t.same(headings('peeling an apple'), ['How do I peel them?'])
  t.same(headings('apples').toSorted(), ['How do I peel them?', 'Page'])
  t.same(headings('how do I'), [], 'words that say nothing find nothing')
  t.same(headings('bananas and apples'), [])
})

t.test('an unknown word suggests the nearest name', async (t) => {
  t.match(await runCli(['docs', 'webhoks']), {
    code: 6,
    stdout: '',
    stderr: /the words "webhoks"\nTry: svc docs webhooks\n/,
  })
  t.match(await runCli(['docs', 'nonsense-of-it']), { code: 6, stderr: /Try: svc docs\n/ })
})
