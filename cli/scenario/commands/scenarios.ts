import { readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { asTyped, quoted } from '../../base/command-hints.ts'
import { CliError, usageError, messageOf } from '../../base/errors.ts'
import { command, argument } from '../../kit/command.ts'
import type { Context } from '../../kit/context.ts'
import { FILES } from './run-options.ts'
import { jsonSchema } from '../read/file-schema.ts'
import { listBuiltIns, readScenarioFile, shownBuiltIn } from '../read/find-files.ts'
import type { BuiltIn } from '../read/find-files.ts'
import { loadScenarios, readVars } from '../read/load.ts'
import { readScenarios } from '../read/read-scenarios.ts'
import { mistakeText, placeText } from '../read/source.ts'
import type { Mistake } from '../read/source.ts'

const list = command({
  command: 'sandbox scenarios list',
  summary: 'List built-in scenarios',
  examples: ['svc sandbox scenarios list', 'svc sandbox scenarios list --tag webhooks'],
  flags: { tag: { value: 'tag', summary: 'Filter by tag; may be repeated', repeats: true } },
  async run(context, input) {
    const items = taggedBuiltIns(input.tag).map(({ name, title, tags }) => ({ name, title, tags }))
    context.print.list(items, {
      fields: ['name', 'title', 'tags'],
      columns: [
        { title: 'name', value: (row) => row.name },
        { title: 'tags', value: (row) => row.tags.join(', '), dropped: 2 },
        { title: 'summary', value: (row) => row.title, below: true },
      ],
      empty: 'There are no built-in scenarios.',
    })
  },
})

function taggedBuiltIns(wanted: readonly string[]): BuiltIn[] {
  const all = listBuiltIns()
  const unknown = wanted.find((tag) => !all.some(({ tags }) => tags.includes(tag)))
  const known = [...new Set(all.flatMap(({ tags }) => tags))].toSorted()
  if (unknown !== undefined) throw usageError(`--tag: no scenario bears "${unknown}"; there are ${known.join(', ')}`)
  return wanted.length === 0 ? all : all.filter(({ tags }) => tags.some((tag) => wanted.includes(tag)))
}

/** Prints the file as it is: to read, and to begin one's own with. */
const show = command({
  command: 'sandbox scenarios show',
  summary: 'Print a built-in scenario',
  examples: ['svc sandbox scenarios show refund > refund.yaml'],
  flags: {
    name: argument('name', 'Scenario name, from svc sandbox scenarios list'),
  },
  async run(context, input) {
    context.io.stdout.write(readScenarioFile(shownBuiltIn(input.name)))
  },
})

const schema = command({
  command: 'sandbox scenarios schema',
  summary: 'Print the JSON Schema of scenario files',
  examples: ['svc sandbox scenarios schema > scenario.schema.json'],
  flags: {},
  async run(context) {
    const item = jsonSchema()
    // A file to keep, where no other form is asked for.
    if (context.print.isMachine) context.print.record(item, [], { id: String(item['$id'] ?? '') })
    else context.io.stdout.write(`${JSON.stringify(item, null, 2)}\n`)
  },
})

const validate = command({
  command: 'sandbox scenarios validate',
  summary: 'Validate scenario files without a service',
  details: 'Exit code 2 if a file is invalid.',
  examples: ['svc sandbox scenarios validate test/scenarios'],
  flags: {
    ...FILES,
    var: { value: 'name=value', summary: 'Variable; may be repeated', repeats: true },
  },
  async run(context, input) {
    const { cases, mistakes, files } = loadScenarios(input.scenarios, {
      cwd: context.io.cwd,
      vars: readVars(input.var),
    })
    if (mistakes.length > 0) throw mistakesError(context, mistakes)
    context.print.record(
      { files, cases: cases.length, valid: true },
      [
        [
          'Valid',
          `${cases.length} ${cases.length === 1 ? 'case' : 'cases'} in ${files} ${files === 1 ? 'file' : 'files'}`,
        ],
      ],
      { id: String(cases.length) },
    )
  },
})

/** Writes a scenario to begin one's own with, and never over a file that is there. */
const create = command({
  command: 'sandbox scenarios create',
  summary: 'Create a commented scenario that passes',
  examples: [
    'svc sandbox scenarios create "refund in two parts"',
    'svc sandbox scenarios create refund --file test/scenarios/refund.yaml',
  ],
  flags: {
    name: argument('name', 'Name of the scenario'),
    file: { value: 'path', summary: 'Output file (the name, with .yaml); never overwrites a file' },
  },
  async run(context, input) {
    const name = input.name.trim()
    if (input.file === undefined && /[/\\]/.test(name))
      throw usageError(
        `"${name}" is a path: use a name for the scenario`,
        `svc sandbox scenarios create ${quoted(slugOf(basename(name, '.yaml')))} --file ${quoted(yamlOf(name))}`,
      )
    const file = input.file ?? `${slugOf(name)}.yaml`
    const path = resolve(context.io.cwd, file)
    const text = starterOf(name)
    const { mistakes } = readScenarios({ file, text, vars: {}, path })
    if (mistakes.length > 0)
      throw usageError(`"${name}" can't be the name of a case`, 'a name of at most 200 characters')
    if (!/\.(ya?ml)$/.test(file)) throw usageError(`--file: ${file} is no *.yaml`, `--file ${file}.yaml`)
    writeNew(path, { file, text })
    const next = `svc run ${quoted(file)} --ephemeral`
    context.print.record({ file, path, next }, [
      ['Written', file],
      ['Play it', asTyped(next, context.io.calledAs)],
    ])
  },
})

function yamlOf(path: string): string {
  return /\.ya?ml$/.test(path) ? path : `${path}.yaml`
}

function slugOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return slug === '' ? 'scenario' : slug.slice(0, 60)
}

function writeNew(path: string, { file, text }: { file: string; text: string }): void {
  try {
    writeFileSync(path, text, { flag: 'wx' })
  } catch (error) {
    const why = messageOf(error)
    if (why.startsWith('EEXIST'))
      throw usageError(`${file} is there already, and stays as it is`, '--file another.yaml')
    throw why.startsWith('ENOENT')
      ? usageError(`--file: there is no folder ${dirname(path)}`, `mkdir -p ${quoted(dirname(path))}`)
      : usageError(`can't write ${file}: ${why}`)
  }
}

/** All mistakes of all files, as one error: exit code 2. Programs get them as a list, people with the lines they are in. */
export function mistakesError(context: Context, mistakes: readonly Mistake[]): CliError {
  const count = mistakes.length === 1 ? 'there is a mistake' : `there are ${mistakes.length} mistakes`
  const summary = `${count}; nothing was played`
  if (!context.json) {
    const text = asTyped(mistakes.map(mistakeText).join('\n\n'), context.io.calledAs)
    return new CliError('SCENARIO_INVALID', `${summary}\n\n${text}\n`)
  }
  const fields = mistakes.map((mistake) => ({
    path: placeText(mistake),
    code: 'SCENARIO_INVALID',
    message: mistake.message,
  }))
  return new CliError('SCENARIO_INVALID', summary, { fields })
}

/** A scenario to begin one's own with: it is valid and passes, and its comments say what else there is. */
export function starterOf(name: string): string {
  return readFileSync(join(packageRoot(), 'examples', 'testing', 'first-payment.yaml'), 'utf8')
    .replace('# first payment:', () => `# ${name.replace(/\s+/g, ' ')}:`)
    .replace('name: first payment', () => `name: ${stringify(name, { lineWidth: 0 }).trim()}`)
}

export const SCENARIOS = [
  {
    command: 'sandbox scenarios',
    summary: 'List, write and check scenario files',
    examples: ['svc sandbox scenarios list', 'svc sandbox scenarios validate test/scenarios'],
  },
  list,
  show,
  validate,
  create,
  schema,
]
