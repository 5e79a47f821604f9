import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { NOUNS } from '../cli/base/command-names.ts'
import type { CommandData } from '../cli/entry/tree/command-data.ts'
import { describeNoun } from '../cli/entry/tree/describe.ts'
import { packageRoot } from '../src/lib/package-root.ts'

/*
 * Plain English, as far as a machine can judge it: words that strangers stumble over, type names that say how a value was
 * come by instead of what it is. Summaries of operations are checked in test/wire/summaries.test.ts.
 */
const ROOT = packageRoot()

type Rule = { pattern: RegExp; instead: string }

const WORDS: readonly Rule[] = [
  { pattern: /\b(?:[Tt]ells|[Tt]old)\b/, instead: 'print, return, report, log or show' },
  // The operating system has a user of that name, which is written in quotes; `NoBody` is a schema.
  {
    pattern: /\b[Ww]hoever\b|\b[Ss]omebody\b|(?<!')\b[Nn]obody\b(?!')/,
    instead: 'the role: the operator, the merchant',
  },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\b(?:mends?|mended|heals?|healed)\b/i, instead: 'fix or repair' },
  { pattern: /\bgoes on with\b|\bgo on with\b/i, instead: 'continues or reuses' },
]

/** Only in what users read: a comment may say that there is no consent, but an error says what a value should be. */
const TEXTS: readonly Rule[] = [
  { pattern: /["}”] is no \w/, instead: '"x" is not a valid …' },
  { pattern: /['`](?:this|that|it) is no \w/, instead: 'not a valid …' },
  { pattern: /\bmust be more than nothing\b/, instead: 'must be greater than 0' },
]

const TYPE_NAMES: Rule = {
  pattern:
    /\b(?:type|interface|class) (?:\w*(?:Wish(?:es|ed)?|Told|Shown|Wanted|Given|Asked|Typed)|Seen|Half|Patient|Bench|Look|Word)\b/,
  instead: "the field's name for what it is, such as CreateRefundInput",
}

type Finding = string

/** The findings of the rules in a text, each with its place and what to write. */
function findings(text: string, rules: readonly Rule[], file: string): Finding[] {
  return text.split('\n').flatMap((line, index) =>
    rules.flatMap(({ pattern, instead }) => {
      const match = pattern.exec(line)
      return match === null ? [] : [`${file}:${index + 1}: "${match[0].trim()}": write ${instead}`]
    }),
  )
}

function filesOf(...patterns: string[]): string[] {
  return globSync(patterns, { cwd: ROOT }).toSorted()
}

function scan(files: readonly string[], rules: readonly Rule[]): Finding[] {
  return files.flatMap((file) => findings(readFileSync(join(ROOT, file), 'utf8'), rules, file))
}

const CODE = filesOf('{src,cli}/**/*.{ts,tsx}', 'widget/**/*.{ts,html,css}', 'migrations/**/*.sql')
/** What users copy, and scenarios, whose first comment is their summary. */
const EXAMPLES = filesOf('examples/**/*.*')
/** The glossary leads from old words to today's, and the reference prints the words of the command line. */
const DOCUMENTS = filesOf('*.md', 'docs/**/*.md').filter((file) => !/^docs\/(?:glossary\.md$|reference\/)/.test(file))

t.test('the rules find what they are for, and pass what is plain', async (t) => {
  const found = (text: string): number => findings(text, [...WORDS, ...TEXTS, TYPE_NAMES], 'x.ts').length
  t.same(
    [
      '// Told of work that fails',
      'throw new Error(`"${text}" is no share`)',
      'type MerchantWish = {',
      'type TradeWishes = {',
      'throw new Error(`this is no YAML`)',
      'sends it anew',
      'nobody reads it',
      'what heals a registration',
    ].map((text) => found(text)),
    [1, 1, 1, 1, 1, 1, 1, 1],
  )
  t.same(
    ['// there is no endpoint', 'type Percentage = number', 'tell apart', 'NoBody', 'reports the error'].map(found),
    [0, 0, 0, 0, 0],
  )
})

t.test(
  'code, comments and texts of the service, the command line, the widget and the migrations are plain English',
  async (t) => {
    t.ok(CODE.length > 900)
    t.same(scan(CODE, [...WORDS, ...TEXTS, TYPE_NAMES]), [])
  },
)

t.test('types of tests and benchmarks are named for what they are', async (t) => {
  const files = filesOf('{test,bench,docs}/**/*.{ts,tsx}').filter((file) => file !== 'test/language.test.ts')
  t.ok(files.length > 500)
  t.same(scan(files, [TYPE_NAMES]), [])
})

t.test('the documents and examples are plain English', async (t) => {
  t.ok(DOCUMENTS.length >= 5)
  t.ok(EXAMPLES.length > 100)
  t.same(scan([...DOCUMENTS, ...EXAMPLES], [...WORDS, ...TEXTS]), [])
})

const TITLE = /^\s*(?:await )?t\.test\(\s*\n?\s*(['"`])(.*?)\1,/gm

t.test('the titles of the tests are plain English', async (t) => {
  const titles = filesOf('test/**/*.test.{ts,tsx}').flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(TITLE)].map((match) => ({ file, title: match[2] ?? '' })),
  )
  t.ok(titles.length > 3000)
  t.same(
    titles.flatMap(({ file, title }) => findings(title, WORDS, file)),
    [],
  )
})

/** What summaries of commands begin with: a verb in the imperative. A new one is added here once it is one. */
const IMPERATIVES = new Set(
  [
    'accept add advance apply approve bring cancel change check close compare complete create diagnose disable dispute edit enable end erase',
    'escalate explain export hold import invite list manage move offer open order pause preview print put read receive refund',
    'register reinstate reject release remove repair replay request reset resolve resume retry review revoke rotate run send set',
    'show sign simulate start stop submit suspend switch test trigger update use validate verify',
  ].flatMap((line) => line.split(' ')),
)

type Text = { place: string; text: string }

/** A command and all below it: its own summary, those of its arguments and options, and what its help says below them. */
function textsOf(command: CommandData, above = 'svc'): { summary: Text; parts: Text[]; after: Text }[] {
  const place = `${above} ${command.name}`
  const parts = [
    ...command.arguments.map(({ name, summary }) => ({ place: `${place} <${name}>`, text: summary })),
    ...command.options.map(({ flags, summary }) => ({ place: `${place} ${flags}`, text: summary })),
  ]
  const after = { place: `${place} --help`, text: command.after }
  return [
    { summary: { place, text: command.summary }, parts, after },
    ...command.commands.flatMap((child) => textsOf(child, place)),
  ]
}

t.test('summaries of commands are short and say what to do; those of flags are short', async (t) => {
  const commands = (await Promise.all(NOUNS.map(({ name }) => describeNoun(name)))).flatMap((noun) => textsOf(noun))
  t.ok(commands.length > 150)
  for (const {
    summary: { place, text },
  } of commands) {
    t.match(text, /^[A-Z][a-z]+,? [^;]*[^.;]$/, place)
    const [verb = ''] = text.toLowerCase().split(/\W/)
    t.ok(IMPERATIVES.has(verb), `${place}: "${verb}" is in the list of verbs`)
    t.ok(text.length <= 60, `${place}: ${text.length} characters`)
  }
  for (const { place, text } of commands.flatMap(({ parts }) => parts)) {
    t.match(text, /^(?:[A-Z]|- )[^]*[^.;]$/, place)
    t.ok(text.length <= 80, `${place}: ${text.length} characters`)
  }
  const all = commands.flatMap(({ summary, parts, after }) => [summary, ...parts, after])
  t.same(
    all.flatMap(({ place, text }) => findings(text, [...WORDS, ...TEXTS], place)),
    [],
  )
})
