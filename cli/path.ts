import { usageError } from './errors.ts'

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
      throw usageError(`--query: "${text}" is no path at character ${at + 1}`, '-q status_history[0].new_status')
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
