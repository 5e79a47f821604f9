/**
 * State machines as data. A transition row is the whole rule and reads like the tables of docs/contract.md; code,
 * tests and the documentation read the same rows.
 */
export type Transition<State extends string, Trigger extends string = string> = {
  from: State | null
  on: Trigger
  to: State
}

/**
 * The row for a trigger in a state, or undefined for a forbidden move.
 * @param table the machine's rows; at most one row per (from, on)
 */
export function next<T extends Transition<string>>(table: readonly T[], from: T['from'], on: T['on']): T | undefined {
  return table.find((row) => row.from === from && row.on === on)
}

/** The row for a move that must exist by the caller's own logic; a missing row is a programming error. */
export function mustMove<T extends Transition<string>>(table: readonly T[], from: T['from'], on: T['on']): T {
  const row = next(table, from, on)
  if (row === undefined) throw new Error(`no transition from ${from ?? '(none)'} on ${on}`)
  return row
}

/** Final states: no row leads out of them. */
export function terminalStates<T extends Transition<string>>(table: readonly T[]): T['to'][] {
  const left = new Set(table.map((row) => row.from))
  return [...new Set(table.map((row) => row.to))].filter((state) => !left.has(state))
}

/** The machine as a Mermaid state diagram. */
export function toMermaid<T extends Transition<string>>(title: string, table: readonly T[]): string {
  const lines = table.map((row) => `  ${row.from ?? '[*]'} --> ${row.to}: ${row.on}`)
  const ends = terminalStates(table).map((state) => `  ${state} --> [*]`)
  return ['---', `title: ${title}`, '---', 'stateDiagram-v2', ...lines, ...ends].join('\n')
}

/** Whether `target` is reachable from state `from`: otherwise waiting for it is pointless. */
export function canReach<T extends Transition<string>>(table: readonly T[], from: T['to'], target: T['to']): boolean {
  const visited = new Set<string>()
  const open: string[] = [from]
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (state === target) return true
    if (visited.has(state)) continue
    visited.add(state)
    open.push(...table.filter((row) => row.from === state).map((row) => row.to))
  }
  return false
}
