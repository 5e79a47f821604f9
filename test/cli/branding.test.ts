import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { fakeService, refusal, runCli } from './harness.ts'
import type { CliSettings } from './harness.ts'
import { provesLeaves } from './ran.ts'

const LOOK = {
  colors: { primary: '#0B5FFF', background: '#FFFFFF', text: '#111111' },
  logo_url: 'https://cdn.shop.example/logo.svg',
  font: 'Georgia',
}
const WARNING = { code: 'LOW_CONTRAST', path: 'colors.text', message: 'text #999999 has a contrast of 2.8:1' }

async function portal(t: Test, more: object = {}) {
  const { url, requests } = await fakeService(t, ({ method, body }) => ({
    json: { ...LOOK, warnings: [], ...more, ...(method === 'PUT' ? JSON.parse(body) : {}) },
  }))
  const run = (words: string[], settings?: CliSettings) =>
    runCli(['checkout', 'branding', ...words, '--api-url', url, '--client-id', 'demo'], settings)
  const sent = () =>
    requests
      .filter(({ method, path }) => method === 'PUT' && !path.includes('dry_run'))
      .map(({ body }) => JSON.parse(body))
  return { run, sent }
}

t.test('get shows the look, and warnings beside it', async (t) => {
  const { run } = await portal(t, { warnings: [WARNING] })
  const shown = await run(['show'])
  t.equal(shown.code, 0)
  t.match(shown.stdout, /Primary +#0B5FFF\nBackground +#FFFFFF\nText +#111111\nLogo +https.*logo\.svg\nFont +Georgia\n/)
  t.match(shown.stderr, 'Warning: colors.text: text #999999 has a contrast of 2.8:1')
  const json = await run(['show', '-o', 'json'])
  t.same(JSON.parse(json.stdout), { ...LOOK, warnings: [WARNING] })
  t.equal(json.stderr, '')
})

t.test('set changes what it names, and leaves the rest as it is', async (t) => {
  const { run, sent } = await portal(t)
  t.equal((await run(['set', 'primary=#003B2F', 'font=Arial'])).code, 0)
  t.same(sent(), [{ ...LOOK, colors: { ...LOOK.colors, primary: '#003B2F' }, font: 'Arial' }])
  await run(['set', 'colors.text=', 'logo_url='])
  t.same(
    sent()[1],
    { colors: { primary: '#0B5FFF', background: '#FFFFFF' }, font: 'Georgia' },
    'nothing is the default',
  )
  await run(['set', 'logo_url=https://cdn.shop.example/a?b=c'])
  t.equal(sent()[2].logo_url, 'https://cdn.shop.example/a?b=c', 'a value may have an equals sign')
})

t.test('reset gives every part its default again', async (t) => {
  const { run, sent } = await portal(t)
  t.match(await run(['reset', '--dry-run']), {
    code: 0,
    stdout: /Effect +this would give the checkout its default look/,
  })
  t.same(sent(), [])
  t.equal((await run(['reset'])).code, 0)
  t.same(sent(), [{}])
})

t.test('set refuses what is no part, and shows with --dry-run what it would send', async (t) => {
  const { run, sent } = await portal(t)
  for (const words of [['set'], ['set', 'primary'], ['set', 'accent=#000000'], ['set', '=x'], ['set', '__proto__=x']])
    t.equal((await run(words)).code, 2, words.join(' '))
  t.match((await run(['set', 'accent=#000000'])).stderr, /primary, background, text, logo_url, font/)
  const dry = await run(['set', 'primary=#003B2F', '--dry-run'])
  t.match(dry, { code: 0, stdout: /PUT .*\/portal\/branding[^]*#003B2F/ })
  t.equal((await run(['set', 'primary=blue', '--dry-run'])).code, 2)
  t.same(sent(), [])
  const { url } = await fakeService(t, ({ method }) =>
    method === 'GET' ? { json: { ...LOOK, warnings: [] } } : refusal(400, 'VALIDATION_FAILED'),
  )
  t.equal(
    (await runCli(['checkout', 'branding', 'set', 'primary=blue', '--api-url', url, '--client-id', 'demo'])).code,
    2,
  )
})

t.test('preview draws the page in its colours where there are colours, and prints the ratios everywhere', async (t) => {
  const { run } = await portal(t)
  const plain = await run(['preview'])
  t.equal(plain.code, 0)
  t.notMatch(plain.stdout, '\u001b')
  t.match(plain.stdout, /Text +#111111 on #FFFFFF, contrast 18\.8:1\n/)
  t.match(plain.stdout, /Button +#FFFFFF on #0B5FFF, contrast 5\.1:1\n/)
  t.match(plain.stdout, /\+-+\+\n[^]*logo\.svg[^]*\[ +Pay by bank +\]/)
  const coloured = await run(['preview', '--color', 'always'])
  t.ok(coloured.stdout.includes('\u001b[38;2;17;17;17;48;2;255;255;255m'), 'the text on its background')
  t.ok(coloured.stdout.includes('\u001b[38;2;255;255;255;48;2;11;95;255m   Pay by bank   \u001b[0m'), 'the button')
  t.match(JSON.parse((await run(['preview', '-o', 'json'])).stdout), {
    ...LOOK,
    contrast: { text: { ratio: '18.8:1' }, button: { colour: '#FFFFFF', ratio: '5.1:1' } },
  })
})

t.test('the text of a button that white can not be read on is black', async (t) => {
  const { run } = await portal(t, { colors: { ...LOOK.colors, primary: '#FFD700' } })
  t.match((await run(['preview'])).stdout, /Button +#000000 on #FFD700, contrast 14\.9:1\n/)
})

/** An editor that writes these texts, one each time it is opened, and keeps what it was opened with. */
function editorOf(t: Test, ...texts: string[]): { env: NodeJS.ProcessEnv; opened(): string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'svc-editor-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const [index, text] of texts.entries()) writeFileSync(join(folder, `${index + 1}.txt`), text)
  const script = join(folder, 'edit.sh')
  writeFileSync(
    script,
    `#!/bin/sh\ncd ${folder}\nn=$(($(ls opened.* 2>/dev/null | wc -l) + 1))\ncp "$1" opened.$n\nif [ -f $n.txt ]; then cp $n.txt "$1"; fi\n`,
  )
  chmodSync(script, 0o755)
  return {
    env: { EDITOR: script, PATH: process.env['PATH'] },
    opened: () =>
      Array.from({ length: texts.length + 1 }, (_, index) => join(folder, `opened.${index + 1}`)).flatMap((file) => {
        try {
          return [readFileSync(file, 'utf8')]
        } catch {
          return []
        }
      }),
  }
}

t.test('edit sends what the editor leaves, and opens it again where that is no look', async (t) => {
  const { run, sent } = await portal(t)
  const good = JSON.stringify({ ...LOOK, font: 'Arial' })
  const editor = editorOf(t, '{ "font": ', '{"font":"Comic Sans"}', good)
  const { code, stderr, stdout } = await run(['edit'], { env: editor.env, typed: '' })
  t.equal(code, 0)
  t.same(JSON.parse(editor.opened()[0] ?? ''), LOOK)
  t.equal(editor.opened()[1], '{ "font": ', 'nothing that was typed is lost')
  t.match(stderr, /That is not a valid look: .*JSON[^]*That is not a valid look: font:/)
  t.same(sent(), [{ ...LOOK, font: 'Arial' }])
  t.match(stdout, /Arial/)
  const asJson = await run(['edit', '--json'], { env: editorOf(t, good).env, typed: '' })
  const dry = await run(['edit', '--dry-run'], { env: editorOf(t, good).env, typed: '' })
  t.match(dry, { code: 0, stdout: /Would send.* PUT/ })
  t.equal(sent().length, 2, 'a dry run sends nothing that stays')
  t.match({ ...asJson, stdout: JSON.parse(asJson.stdout) }, { code: 0, stdout: { font: 'Arial' }, stderr: '' })
})

t.test('edit changes nothing where the text is left as it is, and needs a terminal', async (t) => {
  const { run, sent } = await portal(t)
  const left = await run(['edit'], { env: editorOf(t).env, typed: '' })
  t.match(left, { code: 0, stderr: /Nothing was changed/ })
  t.match(await run(['edit'], { env: editorOf(t, '{}').env }), { code: 2, stderr: /branding set primary=/ })
  t.same(sent(), [])
})

provesLeaves(t, import.meta.filename)
