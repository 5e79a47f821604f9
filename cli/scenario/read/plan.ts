import type { Step } from './read-step.ts'

/** What is played, one after the other: steps, and branches that are played at the same time. */
export type Planned = Step | { branches: readonly Plan[] }
export type Plan = readonly Planned[]

/** All steps in the order of the file. */
export function stepsOf(plan: Plan): Step[] {
  return plan.flatMap((part) => ('branches' in part ? part.branches.flatMap(stepsOf) : [part]))
}
