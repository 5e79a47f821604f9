/**
 * State machines as data. A transition row is the whole rule and reads as the contract's tables do; code, tests,
 * `svc states` and the documentation read the same rows.
 */
export type Transition<State extends string, Trigger extends string = string> = {
  from: State | null
  on: Trigger
  to: State
}

/**
 * The row for a trigger in a state, or undefined where the move is forbidden.
 * @param table the machine's rows; at most one row per (from, on)
 */
export function next<T extends Transition<string>>(table: readonly T[], from: T['from'], on: T['on']): T | undefined {
  return table.find((row) => row.from === from && row.on === on)
}

/** The row for a move that the caller's own logic says must exist; a missing row is a programmer's error. */
export function mustMove<T extends Transition<string>>(table: readonly T[], from: T['from'], on: T['on']): T {
  const row = next(table, from, on)
  if (row === undefined) throw new Error(`no transition from ${from ?? '(none)'} on ${on}`)
  return row
}

/** States that no row leaves. */
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

/** Whether a thing in state `from` can still come to `target`: waiting is in vain where it can't. */
export function canReach<T extends Transition<string>>(table: readonly T[], from: T['to'], target: T['to']): boolean {
  const seen = new Set<string>()
  const open: string[] = [from]
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (state === target) return true
    if (seen.has(state)) continue
    seen.add(state)
    open.push(...table.filter((row) => row.from === state).map((row) => row.to))
  }
  return false
}
