import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { widthOf } from '../../../cli/base/width.ts'
import type { Outcome } from '../harness.ts'
import { judgeError } from './judge-error.ts'
import type { Check } from './judge-error.ts'
import { typedBy } from './row.ts'
import type { Ran, CommandLine } from './row.ts'
import { has } from './tree.ts'
import type { Leaf } from './tree.ts'
import type { World } from './world.ts'

const ESCAPE = '\u001b'
/** What stands where a value was forgotten. */
const FORGOTTEN = /\bundefined\b|\[object Object\]|\bNaN\b|Invalid Date/

export type Case = { leaf: Leaf; row: Ran; world: World; check: Check }

/** Runs a command in each form, without a dry run changing anything, and for what it is refused. */
export async function judge(it: Case): Promise<CommandLine> {
  const { leaf, row, world } = it
  const first = await typedBy(row.args, world)
  /** What writes is done once: each run is about something else. */
  const next = async (): Promise<CommandLine> => (row.writes === true ? typedBy(row.args, world) : first)
  if (has(leaf, '--dry-run') && row.skip?.dryRun === undefined) await judgeDryRun(it, first)
  await judgeInTerminal(it, first)
  if (row.writes !== true) judgeTable(it, await type(it, first))
  if (row.skip?.json === undefined) await judgeJson(it, await next())
  if (row.skip?.id === undefined) await judgeIds(it, await next())
  await judgeRefusal(it)
  return first
}

function type({ leaf, row, world }: Case, { words, env = {}, stdin = '' }: CommandLine, more: readonly string[] = []) {
  return world.run(row.as, [...leaf.words, ...words, ...more], { env, stdin })
}

function judgeEnd({ check }: Case, form: string, { code, stderr }: Outcome): void {
  check(code === 0, `${form}: exit code ${code}, ${stderr}`)
}

function judgeTable(it: Case, told: Outcome): void {
  const { check } = it
  const all = told.stdout + withoutProgress(told.stderr)
  judgeEnd(it, 'table', told)
  check(all !== '', 'table: nothing is said')
  check(!FORGOTTEN.test(all), `table: a value is missing in ${all}`)
  check(!all.includes(ESCAPE), 'table: an escape sequence without colours')
}

/** Without the line that tells how far a long work is: it is drawn where the machine is slow, and always taken away. */
function withoutProgress(stderr: string): string {
  // oxlint-disable-next-line no-control-regex
  return stderr.replaceAll(/\r\u001b\[K[^\r\n]*(?=\r\u001b\[K)|\r\u001b\[K/g, '')
}

async function judgeInTerminal(it: Case, { words, env = {}, stdin = '' }: CommandLine): Promise<void> {
  const { leaf, row, world, check } = it
  const told = await world.run(row.as, [...leaf.words, ...words], {
    env: { NO_COLOR: '1', BROWSER: 'true', ...env },
    stdin,
    tty: true,
    columns: 80,
  })
  judgeTable(it, told)
  if (row.skip?.width !== undefined) return
  for (const line of told.stdout.split('\n')) check(widthOf(line) <= 80, `terminal: more than 80 columns: ${line}`)
}

async function judgeJson(it: Case, typed: CommandLine): Promise<void> {
  const { row, check } = it
  const told = await type(it, typed, ['-o', 'json'])
  judgeEnd(it, 'json', told)
  check(told.stderr === '', `json: on standard error stands ${told.stderr}`)
  const value = parsed(check, told.stdout)
  if (row.writes === true || value === undefined) return
  if (row.skip?.jsonl === undefined) {
    const lines = (await type(it, typed, ['-o', 'jsonl'])).stdout.split('\n').slice(0, -1)
    check(lines.length === (Array.isArray(value) ? value.length : 1), `jsonl: ${lines.length} lines`)
    for (const line of lines) parsed(check, line)
  }
  if (row.skip?.query === undefined) await judgeQuery(it, { typed, value })
}

function parsed(check: Check, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return void check(false, `json: no document: ${text}`)
  }
}

/** A member, raw: of the record, or of the first one of a list. */
async function judgeQuery(it: Case, { typed, value }: { typed: CommandLine; value: unknown }): Promise<void> {
  const [item, place] = Array.isArray(value) ? [value[0], '[0].'] : [value, '']
  const [name, member] =
    Object.entries(Object(item)).find(([, each]) => ['string', 'number'].includes(typeof each)) ?? []
  if (name === undefined) return
  const told = await type(it, typed, ['-q', `${place}${name}`])
  judgeEnd(it, 'query', told)
  it.check(told.stdout === `${String(member)}\n`, `query: ${name} is ${told.stdout} instead of ${String(member)}`)
}

async function judgeIds(it: Case, typed: CommandLine): Promise<void> {
  const told = await type(it, typed, ['-o', 'id'])
  judgeEnd(it, 'id', told)
  for (const line of told.stdout.split('\n').slice(0, -1)) it.check(/^\S+$/.test(line), `id: no id: ${line}`)
}

async function judgeDryRun(it: Case, typed: CommandLine): Promise<void> {
  const { check } = it
  const writes: string[] = []
  const listen = (message: unknown): void => {
    const { method, origin, path } = (message as { request: { method: string; origin: string; path: string } }).request
    const isTried = path.endsWith('dry_run=true')
    if (method !== 'GET' && !isTried && String(origin).startsWith(it.world.service.url))
      writes.push(`${method} ${path}`)
  }
  subscribe('undici:request:create', listen)
  try {
    const told = await type(it, typed, ['--dry-run'])
    check(told.code === 0, `dry run: exit code ${told.code}, ${told.stderr}`)
    check(/^(Nothing|None) /m.test(told.stderr), `dry run: does not say that nothing was changed: ${told.stderr}`)
    check(!FORGOTTEN.test(told.stdout), `dry run: a value is missing in ${told.stdout}`)
    const json = await type(it, typed, ['--dry-run', '-o', 'json'])
    check(json.stderr === '', `dry run: on standard error stands ${json.stderr}`)
    parsed(check, json.stdout)
  } finally {
    unsubscribe('undici:request:create', listen)
  }
  check(writes.length === 0, `dry run: sends ${writes.join(', ')}`)
}

/** A refusal for programs and for people: the same, each in its form. */
async function judgeRefusal({ leaf, row, world, check }: Case): Promise<void> {
  const { args, exit, error } = row.refusal
  const { words, env = {}, stdin = '' } = await typedBy(args, world)
  const line = [...leaf.words, ...words]
  const told = await world.run(row.as, [...line, '--json'], { env, stdin })
  check(told.code === exit, `refused: exit code ${told.code}`)
  const hint = judgeError(check, told, error)
  const { code, stderr } = await world.run(row.as, line, { env, stdin })
  check(code === exit, `refused: exit code ${code} for people`)
  check(stderr.match(/^Error: /gm)?.length === 1, `refused: not one line that says what is wrong: ${stderr}`)
  check(hint !== null, `refused: no next step: ${stderr}`)
  check(hint === null || /^Try: \S/m.test(stderr), `refused: no next step for people: ${stderr}`)
}
