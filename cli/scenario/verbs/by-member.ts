import type { CaseRun } from '../play/case-run.ts'

type Play = (run: CaseRun, given: unknown) => Promise<void>

/** Plays what the first of these members stands for that a step has. Its schema has made sure that there is one. */
export function byMember(players: Readonly<Record<string, Play>>): Play {
  return async (run, given) => {
    const found = Object.entries(players).find(([name]) => Object.hasOwn(Object(given), name))
    if (found === undefined) throw new Error(`one of ${Object.keys(players).join(', ')} is missing`)
    await found[1](run, given)
  }
}
