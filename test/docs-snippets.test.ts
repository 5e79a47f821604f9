import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../src/lib/package-root.ts'
import { routesOf } from '../src/http/routes.ts'
import { runCli } from './cli/harness.ts'
import { commandServer } from './support/command-server.ts'
import { blocksOf, isForBrowser, readPages } from './support/markdown.ts'
import type { Block, Page } from './support/markdown.ts'
import { ensureBuilt } from './support/built.ts'
import { SCRATCH } from './support/scratch.ts'

// Its commands are the ones that users run.
ensureBuilt('cli')

/*
 * Runs the snippets of README.md and docs against one service. The blocks of a page share a folder and a shell, in
 * their order, as for a reader who types them one after the other. A block that can't run says why in a comment above
 * it: `<!-- not run: reason -->`. `<!-- run in a browser -->` leaves one to test/widget/documented.test.ts.
 * `<!-- exits: 3 -->` names the exit code of the last command where it is not 0.
 */
const ROOT = packageRoot()
const SVC = join(ROOT, 'bin', 'svc.js')
/** The address that the documents name for a service on this machine. */
const DOCUMENTED = '127.0.0.1:8080'
const PAGE_TIMEOUT_MS = 240_000
/** Blocks that can't run stay few. */
const NOT_RUN_MAX = 12

type Started = { api_url: string; merchant: { client_id: string; client_secret: string } }
type Ended = { code: number | null; output: string }

const folder = mkdtempSync(join(SCRATCH, 'svc-docs-'))
const stateDirectory = join(folder, 'state')
const env: NodeJS.ProcessEnv = {
  PATH: process.env['PATH'],
  HOME: folder,
  LANG: 'C.UTF-8',
  BROWSER: 'true',
  SVC_CONFIG_DIR: join(folder, 'config'),
  SVC_STATE_DIR: stateDirectory,
}

function run(command: string, words: readonly string[], cwd: string, timeoutMs = PAGE_TIMEOUT_MS): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>()
  const child = spawn(command, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.on('error', (error) => resolve({ code: null, output: String(error) }))
  child.on('close', (code) => resolve({ code, output: Buffer.concat(chunks).toString() }))
  return promise
}

const pages = readPages()

function isNotRun({ remark }: Block): boolean {
  return remark?.startsWith('not run: ') === true
}

/** The end of an output, which a failure shows. */
function tailOf(output: string, from = 0): string {
  return output.slice(Math.max(from, output.length - 3_000))
}

/** The functions of the shell in place of the programs: `svc` runs in this process, and `curl` fails with its request. */
function functionsOf(svcFunction: string): string {
  return `curl() { command curl --fail-with-body "$@"; }
${svcFunction}
npx() { if [ "$1" = --no ]; then shift; fi; if [ "$1" = -- ]; then shift; fi; shift; svc "$@"; }`
}

/** The blocks of a shell as one script, which names the line of each before it runs. */
function scriptOf(page: Page, blocks: readonly Block[], address: string, svcFunction: string): string {
  const parts = blocks.map(({ text, line, remark }) => {
    const exit = /^exits: (?<code>\d+)$/.exec(remark ?? '')?.groups?.['code']
    const commands = text.replaceAll(DOCUMENTED, address)
    const body = exit === undefined ? commands : `set +e\n${commands}\n[ $? -eq ${exit} ] || exit 1\nset -e`
    return `echo "== ${page.path}:${line}"\n${body}\n`
  })
  return ['set -eu -o pipefail', functionsOf(svcFunction), ...parts].join('\n')
}

t.test('the snippets of the documentation run', async (t) => {
  const started = await run(process.execPath, [SVC, 'up', '--detach', '--json', '--port', '0'], folder)
  t.equal(started.code, 0, 'svc up starts', { output: tailOf(started.output) })
  t.teardown(() => run(process.execPath, [SVC, 'down'], folder))
  const { api_url: apiUrl, merchant }: Started = JSON.parse(started.output.slice(started.output.indexOf('{')))
  env['SHOP_CLIENT_ID'] = merchant.client_id
  env['SHOP_CLIENT_SECRET'] = merchant.client_secret
  const { host } = new URL(apiUrl)
  const svcFunction = await commandServer(t, env)
  for (const [index, page] of pages.entries()) {
    const blocks = blocksOf(page).filter((block) => !isNotRun(block) && !isForBrowser(block))
    const cwd = join(folder, String(index))
    const place = join(cwd, 'node_modules', '@svc/svc')
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(ROOT, place)
    const scenarios = blocks.filter(({ language }) => language === 'yaml')
    for (const { text, line } of scenarios) {
      const name = /^# (?<name>[\w-]+\.yaml)/.exec(text)?.groups?.['name']
      t.ok(name, `${page.path}:${line} names its file in the first line`)
      writeFileSync(join(cwd, name ?? 'unnamed.yaml'), `${text}\n`)
    }
    const commands = blocks.filter(({ language }) => language === 'sh')
    if (commands.length > 0) {
      const { code, output } = await run('bash', ['-c', scriptOf(page, commands, host, svcFunction)], cwd)
      t.equal(code, 0, page.path, { output: tailOf(output, output.lastIndexOf('\n== ')) })
    }
    if (scenarios.length > 0) {
      const { code, stdout, stderr } = await runCli(['sandbox', 'run', '.', '--parallel', '4'], { cwd, env })
      t.equal(code, 0, `the scenario files of ${page.path}`, { output: tailOf(stdout + stderr) })
    }
    for (const { language, text, line } of blocks) {
      if (language !== 'js' && language !== 'python') continue
      const file = join(cwd, language === 'js' ? `line-${line}.mjs` : `line-${line}.py`)
      writeFileSync(file, text.replaceAll(DOCUMENTED, host))
      const { code, output } = await run(language === 'js' ? process.execPath : 'python3', [file], cwd)
      if (language === 'python' && output.includes('ENOENT'))
        t.comment(`${page.path}:${line} not run: there is no python3`)
      else t.equal(code, 0, `${page.path}:${line}`, { output: tailOf(output) })
    }
  }
})

t.test('blocks of JSON are valid, and bodies are what their operation takes', async (t) => {
  const operations = new Map(routesOf('sandbox').map(({ operation }) => [operation.name, operation]))
  for (const page of pages)
    for (const { language, text, line, remark } of blocksOf(page)) {
      if (language !== 'json') continue
      const body: unknown = JSON.parse(text)
      const name = /^body of (?<name>\w+)$/.exec(remark ?? '')?.groups?.['name']
      if (name === undefined) continue
      const { error } = operations.get(name)?.body.safeParse(body) ?? { error: `no operation ${name}` }
      t.equal(error, undefined, `${page.path}:${line}`)
    }
})

t.test('few blocks are not run, and each says why', async (t) => {
  const RUN = ['sh', 'yaml', 'js', 'python', 'json']
  const all = pages.flatMap((page) => blocksOf(page).map((block) => ({ page, block })))
  const left = all.filter(({ block }) => isNotRun(block))
  t.ok(left.length <= NOT_RUN_MAX, `${left.length} of ${all.length} blocks are not run`)
  for (const { page, block } of left)
    t.match(block.remark, /^not run: \w.{10,}/, `${page.path}:${block.line} says why it is not run`)
  const KNOWN = [...RUN, 'text', 'mermaid']
  const unknown = all.filter(({ block }) => !isNotRun(block) && !isForBrowser(block) && !KNOWN.includes(block.language))
  t.same(
    unknown.map(({ page, block }) => `${page.path}:${block.line} ${block.language}`),
    [],
    'every other block is of a language that runs, or is text',
  )
})
