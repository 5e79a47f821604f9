import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../src/lib/package-root.ts'
import { runCli } from './harness.ts'

type Row = { topic: string; title: string; path: string }

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

t.test(
  'words find pages, by their titles and then by what stands in them: one is printed, several are listed',
  async (t) => {
    const topics = (await rows('rotate', 'secret')).map(({ topic }) => topic)
    t.ok(topics.includes('webhooks'))
    t.match((await runCli(['docs', 'verify', 'signature', '-o', 'id'])).stdout, /^webhooks$/m)
  },
)

t.test('an unknown word suggests the nearest name', async (t) => {
  t.match(await runCli(['docs', 'webhoks']), {
    code: 6,
    stdout: '',
    stderr: /the words "webhoks"\nTry: svc docs webhooks\n/,
  })
  t.match(await runCli(['docs', 'nonsense-of-it']), { code: 6, stderr: /Try: svc docs\n/ })
})
