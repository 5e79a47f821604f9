import { usageError } from '../base/errors.ts'
import { nearestWord } from '../base/nearest-word.ts'

type Step = { kind: 'key'; key: string } | { kind: 'index'; index: number } | { kind: 'each' }

const STEP = /\.?([A-Za-z_][\w-]*)|\.?\[(\d+)\]|\.?\[("?)([^\]"]+)\3\]|\.?\[\*?\]/y

/**
 * Reads a path such as `failure.code`, `status_history[0].new_status`, `metadata["order no"]` or `[].payment_id`, in
 * which `[]` means every element.
 * @throws {CliError} with exit code 2 when the text is no path
 */
export function parsePath(text: string): Step[] {
  const steps: Step[] = []
  STEP.lastIndex = 0
  while (STEP.lastIndex < text.length) {
    const at = STEP.lastIndex
    const match = STEP.exec(text)
    if (match === null)
      throw usageError(
        `--query: invalid path "${text}" at character ${at + 1}: use names and [0] or []`,
        '-q status_history[0].new_status',
      )
    const [, name, index, , quoted] = match
    const key = name ?? quoted
    if (key !== undefined) steps.push({ kind: 'key', key })
    else if (index !== undefined) steps.push({ kind: 'index', index: Number(index) })
    else steps.push({ kind: 'each' })
  }
  return steps
}

/** The value at the path; undefined where there is none. `[]` gives an array of what its elements have. */
export function valueAt(data: unknown, steps: readonly Step[]): unknown {
  const [step, ...rest] = steps
  if (step === undefined) return data
  if (step.kind === 'each') return Array.isArray(data) ? data.map((item) => valueAt(item, rest)) : undefined
  if (step.kind === 'index') return Array.isArray(data) ? valueAt(data[step.index], rest) : undefined
  if (typeof data !== 'object' || data === null || !Object.hasOwn(data, step.key)) return undefined
  return valueAt(Object.entries(data).find(([key]) => key === step.key)?.[1], rest)
}

/** What is below these has the names that users and changes give it: any name may be there another time. */
const FREE = /(^|[._])(metadata|before|after|body)$/

/**
 * Holds a path against the data, so that a misspelt name is not taken for a member that is empty. A member that is null,
 * an index beyond the end and whatever is below them are no mistakes.
 * @param known the members of the record, or of the list's rows, which an empty list does not show
 * @throws {CliError} with exit code 2 for a name that is not there, or a step that the data can't be taken
 */
export function checkPath(data: unknown, steps: readonly Step[], known: readonly string[] = []): void {
  let values = [data].filter(isThere)
  let [expected, path] = [known, '']
  for (const step of steps) {
    if (step.kind !== 'key') {
      if (!values.every((value) => Array.isArray(value))) throw usageError(`${placeOf(path)} is not a list`)
      values = values.flat().filter(isThere)
      path += '[]'
      continue
    }
    refuseList(values, { path, key: step.key, expected })
    const names = namesOf(values, path)
    const there = [...new Set([...expected, ...names])]
    if ((values.length > 0 || expected.length > 0) && !there.includes(step.key) && !FREE.test(path))
      throw noField(path, step.key, there)
    values = values
      .flatMap((value) => Object.entries(Object(value)).flatMap(([key, below]) => (key === step.key ? [below] : [])))
      .filter(isThere)
    path = path === '' ? step.key : `${path}.${step.key}`
    expected = []
  }
}

function isThere(value: unknown): boolean {
  return value !== null && value !== undefined
}

type MemberStep = { path: string; key: string; expected: readonly string[] }

/** A list has rows, and no members: what was meant is theirs. */
function refuseList(values: readonly unknown[], { path, key, expected }: MemberStep): void {
  const rows = values.filter((value) => Array.isArray(value)).flat()
  if (!values.some((value) => Array.isArray(value))) return
  const there = [...expected, ...rows.flatMap((row) => (Array.isArray(row) ? [] : Object.keys(Object(row))))]
  const member = there.includes(key) ? key : (meantField(key, there) ?? '<member>')
  throw usageError(
    `${placeOf(path)} is a list, which has no member "${key}"`,
    `of each: -q '${path}[].${member}'\nof the first: -q '${path}[0].${member}'`,
  )
}

/** Every name that one of the objects has: the neighbours show what an object without a member could have. */
function namesOf(values: readonly unknown[], path: string): string[] {
  return values.flatMap((value) => {
    if (typeof value !== 'object') throw usageError(`${placeOf(path)} is a value, with nothing below it`)
    return Object.keys(Object(value))
  })
}

function noField(path: string, name: string, there: readonly string[]): Error {
  const where = path === '' || path === '[]' ? 'here' : `in ${path}`
  const meant = meantField(name, there)
  const guess = meant === undefined ? '' : `; did you mean ${meant}?`
  return usageError(`there is no field "${name}" ${where}; ${thereAre(there)}${guess}`)
}

function meantField(name: string, there: readonly string[]): string | undefined {
  const ofEnd = there.find((each) => each.endsWith(`_${name}`))
  return (name === 'id' ? ofEnd : undefined) ?? nearestWord(name, there) ?? ofEnd
}

/** More names than this are hard to read. */
const NAMES_MAX = 8

function thereAre(there: readonly string[]): string {
  if (there.length === 0) return 'there is none'
  const named = there.slice(0, NAMES_MAX).join(', ')
  return `there are ${named}${there.length > NAMES_MAX ? ` and ${there.length - NAMES_MAX} more (--json shows all)` : ''}`
}

function placeOf(path: string): string {
  return path === '' ? 'the result' : path
}
