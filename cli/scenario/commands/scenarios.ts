import { writeFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { z } from 'zod'
import { asTyped, quoted } from '../../base/command-hints.ts'
import type { CommandInput, CommandResult, Context, InputOf } from '../../kit/context.ts'
import { CliError, usageError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { listBuiltIns, readScenarioFile, shownBuiltIn } from '../read/find-files.ts'
import type { BuiltIn } from '../read/find-files.ts'
import { jsonSchema } from '../read/file-schema.ts'
import { loadScenarios, readVars } from '../read/load.ts'
import { readScenarios } from '../read/read-scenarios.ts'
import { mistakeText, placeText } from '../read/source.ts'
import type { Mistake } from '../read/source.ts'
import { stringify } from 'yaml'

export const ListOptions = z.object({ tag: z.array(z.string()).default([]) })
export const CreateOptions = z.object({ file: z.string().min(1).optional() })
export const ValidateOptions = z.object({ var: z.array(z.string()).default([]) })

export async function list(context: Context, { options }: InputOf<typeof ListOptions>): Promise<CommandResult> {
  const items = taggedBuiltIns(options.tag).map(({ name, title, tags }) => ({ name, title, tags }))
  context.print.list({
    items,
    fields: ['name', 'title', 'tags'],
    columns: [
      { title: 'name', value: (row) => row.name },
      { title: 'tags', value: (row) => row.tags.join(', '), dropped: 2 },
      { title: 'story', value: (row) => row.title, below: true },
    ],
    id: (row) => row.name,
    empty: 'There are no built-in scenarios.',
  })
}

/** @throws {CliError} with exit code 2 where none bears one of the tags */
function taggedBuiltIns(wanted: readonly string[]): BuiltIn[] {
  const all = listBuiltIns()
  const unknown = wanted.find((tag) => !all.some(({ tags }) => tags.includes(tag)))
  const known = [...new Set(all.flatMap(({ tags }) => tags))].toSorted()
  if (unknown !== undefined) throw usageError(`--tag: no scenario bears "${unknown}"; there are ${known.join(', ')}`)
  return wanted.length === 0 ? all : all.filter(({ tags }) => tags.some((tag) => wanted.includes(tag)))
}

/** Prints the file as it is: to read, and to begin one's own with. */
export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  context.io.stdout.write(readScenarioFile(shownBuiltIn(args[0] ?? '')))
}

export async function schema(context: Context): Promise<CommandResult> {
  const item = jsonSchema()
  // A file to keep, where no other form is asked for.
  if (context.print.isMachine) context.print.record({ item, id: String(item['$id'] ?? ''), lines: [] })
  else context.io.stdout.write(`${JSON.stringify(item, null, 2)}\n`)
}

export async function validate(
  context: Context,
  { args, options }: InputOf<typeof ValidateOptions>,
): Promise<CommandResult> {
  const { cases, mistakes, files } = loadScenarios(args, { cwd: context.io.cwd, vars: readVars(options.var) })
  if (mistakes.length > 0) throw mistakesError(context, mistakes)
  context.print.record({
    item: { files, cases: cases.length, valid: true },
    id: String(cases.length),
    lines: [
      [
        'Valid',
        `${cases.length} ${cases.length === 1 ? 'case' : 'cases'} in ${files} ${files === 1 ? 'file' : 'files'}`,
      ],
    ],
  })
}

/** Writes a scenario to begin one's own with, and never over a file that is there. */
export async function create(
  context: Context,
  { args, options }: InputOf<typeof CreateOptions>,
): Promise<CommandResult> {
  const name = (args[0] ?? '').trim()
  if (options.file === undefined && /[/\\]/.test(name))
    throw usageError(
      `"${name}" is a path, and here stands what the story is called`,
      `svc sandbox scenarios create ${quoted(slugOf(basename(name, '.yaml')))} --file ${quoted(yamlOf(name))}`,
    )
  const file = options.file ?? `${slugOf(name)}.yaml`
  const path = resolve(context.io.cwd, file)
  const text = starterOf(name)
  const { mistakes } = readScenarios({ file, text, vars: {}, path })
  if (mistakes.length > 0) throw usageError(`"${name}" can't be the name of a case`, 'a name of at most 200 characters')
  if (!/\.(ya?ml)$/.test(file)) throw usageError(`--file: ${file} is no *.yaml`, `--file ${file}.yaml`)
  writeNew(path, { file, text })
  const next = `svc run ${quoted(file)} --ephemeral`
  context.print.record({
    item: { file, path, next },
    id: file,
    lines: [
      ['Written', file],
      ['Play it', asTyped(next, context.io.calledAs)],
    ],
  })
}

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
    const why = error instanceof Error ? error.message : String(error)
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
    return new CliError('SCENARIO_INVALID', `${summary}\n\n${text}\n`, { exit: EXIT.usage })
  }
  const fields = mistakes.map((mistake) => ({
    path: placeText(mistake),
    code: 'SCENARIO_INVALID',
    message: mistake.message,
  }))
  return new CliError('SCENARIO_INVALID', summary, { exit: EXIT.usage, fields })
}

/** A scenario to begin one's own with: it is valid and passes, and its comments say what else there is. */
export function starterOf(name: string): string {
  return `# yaml-language-server: $schema=./scenario.schema.json
# Your editor reads that line; the file is made by: svc sandbox scenarios schema > scenario.schema.json
# ${name.replace(/\s+/g, ' ')}: say here, in one sentence, what story this tells.
scenario: v1
name: ${stringify(name, { lineWidth: 0 }).trim()}
# tags: [smoke]                              # svc run . --tag smoke
vars: { amount: "12.50" }                  # another one: --var amount=20.00. Amounts are text, in quotes
# matrix: { currency: [GBP, EUR] }         # one case for each; $currency in the steps below
given:                                     # a merchant and a webhook receiver of this case alone
  merchant: { fee_percentage: "0.0100", fee_flat: "0.20" }
steps:
  # What a step makes gets a name with "as"; later steps refer to it as $p1, and to its parts as $p1.payment_id.
  - pay: { as: p1, amount: $amount, currency: GBP, remittance_reference: ORDER-1 }

  # The payer at the mock bank. Other endings are chosen above: pay: { …, scenario: insufficient-funds }
  - bank: { approve: $p1 }

  # What takes its time is waited for.
  - await: { payment: $p1, status: Settled, within: 10s }

  # What must be so now. Also "/a regex/", "> 10.00", { one_of: [..] }, { type: uuid }, { absent: true }.
  - expect: { of: $p1, currency: GBP, net_amount: "> 0", failure: { absent: true } }

  # What your endpoint would have been sent, each with a good signature.
  - webhooks: { for: $p1, in_order: [payment.initiated, payment.authorized, payment.settled], signed: true }

  # What must be refused. This stands beside any verb.
  - payments.refund: { payment: $p1, amount: "1000000.00" }
    expect_error: { http: 422 }
`
}
