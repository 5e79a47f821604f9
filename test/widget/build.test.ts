import { execFile } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { MOCK_BANKS } from '../../src/banks/catalogue.ts'
import { CONTRAST_MIN, contrastRatio } from '../../src/lib/contrast.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { BUDGETS, overBudget, weigh } from '../../widget/build/budget.ts'
import { bundleAll } from '../../widget/build/bundle.ts'
import { render } from '../../widget/build/guides.ts'
import { drawMark, markIndexOf, monogramOf } from '../../src/lib/bank-mark.ts'

const run = promisify(execFile)

function build(folder: string): Promise<{ stdout: string }> {
  return run(process.execPath, [join(packageRoot(), 'widget/build.ts'), folder])
}

function contentOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).toSorted()
  return Object.fromEntries(paths.map((path) => [relative(folder, path), readFileSync(path).toString('base64')]))
}

t.test('builds are reproducible, and obsolete files are removed', async (t) => {
  const folder = t.testdir({ one: { 'old.js': 'left from before' }, two: {} })
  const [{ stdout }] = await Promise.all([build(join(folder, 'one')), build(join(folder, 'two'))])
  const [one, two] = [contentOf(join(folder, 'one')), contentOf(join(folder, 'two'))]
  t.same(one, two)
  t.notOk('old.js' in one)
  for (const name of ['checkout.js', 'checkout.js.br', 'checkout.js.gz', 'widget.js', 'hub.js', 'demo.js'])
    t.ok(name in one, name)
  t.match(stdout, /loader and widget +\d+\.\d\d KiB of 18\.00 KiB/)
})

t.test('the checkout is within its size budget', async (t) => {
  const weights = weigh(await bundleAll())
  t.equal(weights.loader.length, 1)
  t.ok(weights.checkout.some(({ path }) => path === 'widget.js'))
  t.ok(weights.checkout.some(({ path }) => path === 'styles.css'))
  t.ok(weights.locales.length >= 2, 'the other languages are files of their own')
  t.same(overBudget(weights), [])
})

t.test('each file above its budget is reported', async (t) => {
  const heavy = (path: string, gzip: number) => [{ path, gzip }]
  t.same(
    overBudget({
      loader: heavy('checkout.js', BUDGETS.loader + 1),
      checkout: heavy('widget.js', BUDGETS.checkout + 1),
      locales: heavy('chunks/cy.js', BUDGETS.locale + 1),
    }).map((line) => line.replace(/:.*/, '')),
    ['the loader', 'loader and widget', 'chunks/cy.js'],
  )
  t.same(
    overBudget({
      loader: heavy('checkout.js', BUDGETS.loader),
      checkout: heavy('widget.js', BUDGETS.checkout),
      locales: heavy('chunks/cy.js', BUDGETS.locale),
    }),
    [],
  )
})

t.test('a page of the documentation with HTML outside of code fails the build; comments are left out', (t) => {
  const rendered = (text: string): string => render({ file: 'docs/page.md', text }, new Map())
  t.equal(rendered('<!-- one -->\n<!-- two -->\n\nText <!-- three -->'), '<p>Text </p>\n')
  t.match(rendered('`svc payments show <id>`'), 'svc payments show &lt;id&gt;')
  for (const text of ['svc payments show <id>', '| a |\n| - |\n| <id> |', '<div>\n</div>', '<!-- a --> <b> <!-- c -->'])
    t.throws(() => rendered(text), { message: /^docs\/page\.md has HTML outside of code: </ }, text)
  t.end()
})

t.test('each logo has readable letters on its own colour', async (t) => {
  const colourIn = (svg: string): string => /fill="(#[0-9a-f]{6})"/.exec(svg)?.[1] ?? ''
  const colours = MOCK_BANKS.map(({ name }, index) => colourIn(drawMark(name, index)))
  for (const colour of colours) t.ok(contrastRatio('#FFFFFF', colour) >= CONTRAST_MIN, colour)
  for (const id of ['barclays', 'hsbc-uk', 'x', 'ž', 'a'.repeat(50)]) {
    const colour = colourIn(drawMark('<script>alert(1)</script> & Söhne', markIndexOf(id)))
    t.ok(contrastRatio('#FFFFFF', colour) >= CONTRAST_MIN, `${id}: ${colour}`)
  }
  t.notMatch(drawMark('<script>alert(1)</script> & Söhne', 1), /script|alert|&/)
  t.equal(new Set(colours).size, MOCK_BANKS.length)
  t.equal(monogramOf('Severn & Wye'), 'SW')
  t.equal(monogramOf('Banc y Ddraig'), 'BD')
  t.equal(monogramOf('Meridian'), 'M')
  t.equal(monogramOf('Leisurely Bank (settles after 10 seconds)'), 'LB')
  t.equal(monogramOf('<&>'), '?')
  t.equal(monogramOf('first direct'), 'FD', 'any words, where none has a capital')
  t.equal(monogramOf('monzo'), 'M')
  t.equal(monogramOf('中国银行'), '中')
  t.equal(monogramOf('بنك مصر'), 'بم')
  t.equal(monogramOf('𝒶 bank'), '𝒶B', 'a letter is never cut in two')
})

t.test('where browsers lack :has, the warning of a session that ends covers nothing', async (t) => {
  const [, hub] =
    /(@supports selector\(:has\([^]*)/.exec(readFileSync(join(packageRoot(), 'widget/hub.css'), 'utf8')) ?? []
  t.match(hub, /^@supports selector\(:has\(a\)\) \{\s+\.warning \{ position: fixed/)
})
