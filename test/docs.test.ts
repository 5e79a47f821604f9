import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parse as parseYaml } from 'yaml'
import { RUN_FLAGS } from '../cli/scenario/commands/run-options.ts'
import { STRUCTURES, isStructure } from '../cli/scenario/language/structure.ts'
import { VERBS, isVerb } from '../cli/scenario/language.ts'
import { loadScenarios } from '../cli/scenario/read/load.ts'
import { ruleProblems } from '../cli/scenario/read/step-rules.ts'
import { childOf, isLeaf, partsOf } from '../cli/entry/tree/command-data.ts'
import type { CommandData } from '../cli/entry/tree/command-data.ts'
import { readAll } from '../cli/entry/tree/command-file.ts'
import { checkoutPicture } from '../docs/generate/checkout-picture.ts'
import { referencePages } from '../docs/generate/pages.ts'
import { SCENARIO_NAMES } from '../src/banks/scenarios.ts'
import { CONFIG_VARIABLES } from '../src/config/environment.ts'
import { routesOf } from '../src/http/routes.ts'
import { encodeCheckoutToken, signCheckoutToken } from '../src/lib/checkout-token.ts'
import { MERCHANT_ROLES, PLATFORM_ROLES } from '../src/lib/permissions.ts'
import { packageRoot } from '../src/lib/package-root.ts'
import { signBody } from '../src/lib/webhook-signature.ts'
import { CheckoutToken } from '../src/wire/checkout.ts'
import { EventType } from '../src/wire/webhook-events.ts'
import { en } from '../src/lib/locales/checkout/en.ts'
import { readEvent } from '../widget/messages.ts'
import type { CheckoutEventType } from '../widget/package/types.ts'
import {
  anchorsOf,
  blocksOf,
  chapterOf,
  codesOf,
  isGenerated,
  proseOf,
  readPage,
  readPages,
  tableAfter,
} from './support/markdown.ts'

/*
 * The documentation, held against the code and against itself. test/docs-snippets.test.ts runs what can be run of it.
 */
const README_LINES_MAX = 200
const PARAGRAPH_LINES_MAX = 4
const LINE_LENGTH_MAX = 120
/** Pages of others have rules of their own for their form. */
const OTHERS = ['docs/contract.md']

const ROOT = packageRoot()
const pages = readPages()
const webhooks = readPage('docs/merchants/webhooks.md')
const checkout = readPage('docs/merchants/checkout.md')
const testing = readPage('docs/merchants/testing.md')
const scenarios = readPage('docs/scenarios.md')
const verbs = readPage('docs/reference/scenario-verbs.md')

/** What the widget reports to its page: all of it, as the type makes sure. */
const WIDGET_EVENTS: Record<CheckoutEventType, true> = {
  SVC_WIDGET_READY: true,
  SVC_BANK_SELECTED: true,
  SVC_PAYMENT_SUCCESS: true,
  SVC_PAYMENT_FAILED: true,
  SVC_PAYMENT_CANCELLED: true,
  SVC_RETURN: true,
  SVC_RESIZE: true,
}

t.test('docs/reference is what the code generates', async (t) => {
  for (const [name, text] of await referencePages()) {
    const file = join(ROOT, 'docs', 'reference', name)
    t.ok(existsSync(file) && readFileSync(file, 'utf8') === text, `docs/reference/${name} is stale: run npm run docs`)
  }
  const generated = pages.filter((page) => isGenerated(page)).map(({ path }) => path)
  t.same(generated, [...(await referencePages()).keys()].map((name) => `docs/reference/${name}`).toSorted())
})

t.test('the picture of the checkout is what the code generates, with its texts and nothing that runs', async (t) => {
  const picture = readFileSync(join(ROOT, 'docs', 'images', 'checkout.svg'), 'utf8')
  t.ok(picture === checkoutPicture(), 'docs/images/checkout.svg is stale: run npm run docs')
  for (const text of [en.consentTitle, en.banksTitle, en.qrTitle, en.paidTitle])
    t.ok(picture.includes(`>${text}<`), text)
  t.notMatch(picture, /<script|\bon\w+=|href|[{]\w+[}]/)
  t.match(checkout.text, /!\[[^\]]+\]\(\.\.\/images\/checkout\.svg\)/, 'with a text for who does not see it')
})

t.test('the README is short, and so are paragraphs', async (t) => {
  const readme = readPage('README.md')
  t.ok(readme.text.split('\n').length - 1 <= README_LINES_MAX, 'README.md')
  for (const page of [...pages, readPage('CONTRIBUTING.md')]) {
    if (isGenerated(page) || OTHERS.includes(page.path)) continue
    t.same(longParagraphs(page), [], page.path)
  }
})

t.test('every relative link leads to a file, and to a heading in it', async (t) => {
  const broken = pages.flatMap((page) =>
    linksOf(page).flatMap((link) => {
      const [file = '', anchor] = link.split('#')
      const path = file === '' ? page.path : join(dirname(page.path), file)
      if (!existsSync(join(ROOT, path))) return [`${page.path}: ${link}`]
      return anchor === undefined || anchorsOf(readPage(path)).has(anchor) ? [] : [`${page.path}: ${link}`]
    }),
  )
  t.same(broken, [])
})

t.test('the README leads to every page', async (t) => {
  const links = linksOf(readPage('README.md'))
  t.same(
    pages.map(({ path }) => path).filter((path) => path !== 'README.md' && !links.includes(path)),
    [],
  )
})

t.test('every page begins with its title, and a guide has a command before its first section', async (t) => {
  for (const page of pages) {
    t.match(page.text, /^# \S/, page.path)
    if (OTHERS.includes(page.path) || page.path === 'README.md') continue
    const [beginning = ''] = page.text.split('\n## ')
    t.match(beginning, /^```(sh|yaml)$/m, page.path)
  }
})

t.test('every command that the text names exists, with its options', async (t) => {
  const map = await readAll()
  const named = pages.flatMap((page) => [
    ...codesIn(page),
    ...blocksOf(page)
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => text.split('\n')),
  ])
  const commands = named.flatMap(
    (text) => /^(?:\w+=\S+ )*(?:npx (?:--no (?:-- )?)?)?(?<command>svc .*)$/.exec(text)?.groups?.['command'] ?? [],
  )
  t.ok(commands.length > 200, `${commands.length} commands`)
  t.same(
    commands.flatMap((command) => {
      const problem = problemOfCommand(map, command)
      return problem === undefined ? [] : [`${command}: ${problem}`]
    }),
    [],
  )
})

t.test('the reference has every operation, variable and event', async (t) => {
  const operations = readPage('docs/reference/operations.md').text
  for (const { operation } of routesOf('sandbox')) {
    t.match(operations, `| \`${operation.method} ${operation.path}\` |`, operation.name)
    t.match(operations, `### ${operation.name}\n`, operation.name)
  }
  const configuration = readPage('docs/reference/configuration.md').text
  t.ok(CONFIG_VARIABLES.length > 10)
  for (const { name } of CONFIG_VARIABLES) t.match(configuration, `| \`${name}\` |`, name)
  const events = readPage('docs/reference/events.md').text
  for (const type of EventType.options) t.match(events, `## ${type}\n`, type)
})

t.test('the guide to webhooks names every event, and its signature verifies', async (t) => {
  const chapter = chapterOf(webhooks, '## Which events are there?')
  for (const type of EventType.options) t.ok(chapter.includes(`\`${type}\``), type)
  const body = Buffer.from('{"eventId":"evt_1"}')
  t.match(webhooks.text, `\`${signBody({ secret: '0123456789abcdef'.repeat(4), body })}\``)
})

t.test('the checkout token of the guide is signed as it says', async (t) => {
  const fields = { amount: '12.50', currency: 'GBP' }
  t.match(checkout.text, `\`${JSON.stringify(fields)}\``)
  const text = encodeCheckoutToken(fields)
  const [, signature] = signCheckoutToken(text, '0123456789abcdef'.repeat(4)).split('.')
  t.match(checkout.text, `printf %s ${text} |`)
  t.match(checkout.text, `# ${signature}\n`)
})

t.test('the guide to the checkout names every member of a token, and no other', async (t) => {
  t.strictSame(
    codesOf(tableAfter(checkout, 'A token is the base64 of a JSON object')).sort(),
    Object.keys(CheckoutToken.shape).sort(),
  )
})

t.test("the guide to the checkout names the widget's events, each with its whole payload", async (t) => {
  const rows = tableAfter(checkout, '## Which events does my page get?')
  t.strictSame(codesOf(rows).sort(), Object.keys(WIDGET_EVENTS).sort())
  for (const row of rows) {
    const [eventType = ''] = codesOf([row])
    const payload = Object.fromEntries(codesOf([row], 2).map((name) => [name, name === 'height' ? 1 : 'text']))
    t.strictSame(readEvent({ eventType, payload }), { eventType, payload }, eventType)
  }
})

t.test('the guide to identity has a row for every role of a merchant, and names those of operators', async (t) => {
  const identity = readPage('docs/operators/identity.md')
  const rows = tableAfter(identity, "## What may a merchant's roles do?").map((row) => row.split('|')[1]?.trim())
  t.same(rows, [...MERCHANT_ROLES, 'none (a server client)'])
  const chapter = chapterOf(identity, '## What may operators do?')
  for (const role of PLATFORM_ROLES) t.match(chapter, role)
})

t.test('the reference has a row for every verb of scenario files, with examples that are right', async (t) => {
  const [beforeMatches = ''] = verbs.text.split('\n## What await and expect look at\n')
  const rows = beforeMatches.split('\n').filter((line) => line.startsWith('| `'))
  t.strictSame(codesOf(rows).sort(), [...Object.keys(VERBS), ...Object.keys(STRUCTURES)].sort())
  for (const row of rows) {
    const [verb = ''] = codesOf([row])
    t.ok(
      stepsIn(row).some((step) => step.startsWith(`${verb}: `)),
      `${verb} has an example of its own`,
    )
  }
  for (const step of [...stepsIn(verbs.text), ...stepsIn(scenarios.text)]) t.strictSame(problemsOf(step), [], step)
})

t.test('the scenario files of the guide are valid, together with the files that they use', async (t) => {
  const blocks = blocksOf(scenarios).filter(({ language }) => language === 'yaml')
  const files = blocks.map(({ text }) => [/^# ([\w-]+\.yaml)\n/.exec(text)?.[1] ?? 'unnamed', text] as const)
  t.notOk(files.some(([name]) => name === 'unnamed'))
  const cwd = t.testdir(Object.fromEntries(files))
  const { cases, mistakes } = loadScenarios([cwd], { cwd, vars: {} })
  t.strictSame(
    mistakes.map(({ place, message }) => `${place.file}:${place.line} ${message}`),
    [],
  )
  t.ok(cases.length >= files.length)
})

t.test('the guide to scenarios names every flag of svc run', async (t) => {
  const rows = codesOf(tableAfter(scenarios, '## How do I run them?')).join(' ')
  const flags = Object.keys(RUN_FLAGS).map((name) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`))
  for (const flag of flags) t.ok(rows.includes(`--${flag}`), flag)
})

t.test('the guide to testing names every scenario of the mock bank, and no other', async (t) => {
  t.strictSame(
    codesOf(tableAfter(testing, '## How do I choose how a payment ends?')).sort(),
    [...SCENARIO_NAMES].sort(),
  )
})

/** Paragraphs and items of lists that are longer than they may be, by their first line. */
function longParagraphs(page: Parameters<typeof proseOf>[0]): string[] {
  const paragraphs = proseOf(page).reduce<string[][]>(
    (found, line) => {
      if (line.trim() === '' || /^(#|\||- |\d+\. |!\[)/.test(line)) found.push([])
      if (line.trim() !== '' && !/^(#|\||!\[)/.test(line)) found.at(-1)?.push(line)
      return found
    },
    [[]],
  )
  return paragraphs
    .filter((lines) => lines.length > PARAGRAPH_LINES_MAX || lines.some((line) => line.length > LINE_LENGTH_MAX))
    .map(([first = '']) => first)
}

/** The inline code of a page. */
function codesIn(page: Parameters<typeof proseOf>[0]): string[] {
  return Array.from(
    proseOf(page)
      .join('\n')
      .matchAll(/`([^`\n]+)`/g),
    ([, text = '']) => text,
  )
}

/** The first word or option of a command line that the map of commands does not have. */
function problemOfCommand(root: CommandData, command: string): string | undefined {
  const [line = ''] = command.split(/ +#| [|>]| \|\| /)
  let map = root
  // Without a command, svc opens the console with the options of svc ui.
  const ui = root.commands.find(({ name }) => name === 'ui')?.options ?? []
  const options = new Set(['--help', '--version', ...[...root.options, ...ui].map((option) => partsOf(option).long)])
  for (const word of line
    .replaceAll(/"[^"]*"|'[^']*'/g, '…')
    .split(' ')
    .slice(1)) {
    const child = childOf(map, word)
    if (child !== undefined) {
      map = child
      for (const option of child.options) options.add(partsOf(option).long)
    } else if (/^--\w/.test(word)) {
      const [name = ''] = word.replace(/[;)]+$/, '').split('=')
      if (!options.has(name)) return `there is no option ${name}`
    } else if (!isLeaf(map) && /^[a-z]/.test(word)) return `there is no command ${word}`
  }
  return undefined
}

/** The addresses of a page's links and pictures that are no web addresses. */
function linksOf(page: Parameters<typeof proseOf>[0]): string[] {
  const text = proseOf(page)
    .join('\n')
    .replaceAll(/`[^`\n]*`/g, '')
  return Array.from(text.matchAll(/\]\((?<link>[^)\s]+)\)/g), ({ groups }) => groups?.['link'] ?? '').filter(
    (link) => !/^[a-z]+:/.test(link),
  )
}

/** The steps among what is code. */
function stepsIn(text: string): string[] {
  return Array.from(text.matchAll(/`([^`]+)`/g), ([, code = '']) => code).filter((code) => /^[\w.]+: [{[.]/.test(code))
}

/** The mistakes of a step by the schemas of the language. */
function problemsOf(step: string): string[] {
  const [[word, input] = ['', undefined], ...more]: [string, unknown][] = Object.entries(Object(parseYaml(step)))
  const { schema } = isVerb(word) ? VERBS[word] : isStructure(word) ? STRUCTURES[word] : { schema: undefined }
  if (schema === undefined || more.length > 0) return ['is not a step']
  const rules = isVerb(word) ? ruleProblems(word, input, undefined) : []
  return [...(schema.safeParse(input).error?.issues ?? []), ...rules].map(({ message }) => message)
}
